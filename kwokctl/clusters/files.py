"""Writes the files that a cluster's components read: PKI, kubeconfigs, policies, saved state."""

from pathlib import Path

from kwokctl.clusters.home import Home, context_name
from kwokctl.clusters.saved import Saved, save
from kwokctl.components import identities, kube_apiserver
from kwokctl.components.setting import Setting
from kwokctl.errors import UsageError
from kwokctl.host.files import private_folder, write_atomic
from kwokctl.host.pki import ensure_pki
from kwokctl.kube import kubeconfig
from kwokctl.model import (
    KUBE_CONTROLLER_MANAGER,
    KUBE_SCHEDULER,
    KWOK_CONTROLLER,
    Plan,
)
from kwokctl.runtime import Runtime

_CLIENTS = (KUBE_CONTROLLER_MANAGER, KUBE_SCHEDULER, KWOK_CONTROLLER)


def write_files(home: Home, runtime: Runtime, saved: Saved) -> Plan:
    """Write everything but programs and data that the cluster needs; safe to repeat."""
    paths = home.paths(saved.name)
    setting = saved.setting(runtime, paths)
    plan = saved.plan(runtime, paths)
    private_folder(paths.root)
    private_folder(paths.sockets)
    save(paths, saved, plan)
    ensure_pki(paths.pki, identities.identities(saved.options))
    _write_kubeconfigs(setting, saved)
    if policy := saved.options.kube_audit_policy:
        write_atomic(paths.root / "audit.yaml", _read_policy(Path(policy)))
    return plan


def _write_kubeconfigs(setting: Setting, saved: Saved) -> None:
    server = kube_apiserver.url(setting)
    context = context_name(saved.name)
    admin = kubeconfig.by_paths(context, server, setting.paths.pki, identities.ADMIN)
    write_atomic(setting.paths.kubeconfig, admin, mode=0o600)
    folder = Path(setting.pki(""))
    for name in _CLIENTS:
        text = kubeconfig.by_paths(context, server, folder, name)
        write_atomic(setting.paths.component_kubeconfig(name), text, mode=0o600)


def _read_policy(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as e:
        raise UsageError(f"the audit policy '{path}' cannot be read: {e.strerror}") from e
