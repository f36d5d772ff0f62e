"""Writes the files that a cluster's components read: PKI, kubeconfigs, policies, saved state."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from kwokctl.artifacts.workdirs import remember
from kwokctl.clusters.configuration.volumes import make_paths
from kwokctl.clusters.state.home import Home, context_name
from kwokctl.clusters.state.saved import Saved, state_file
from kwokctl.clusters.state.scheduler_config import write_scheduler_config
from kwokctl.components import cluster_identities
from kwokctl.components.catalog import clients, token_holders
from kwokctl.components.catalog import identities as identities_of
from kwokctl.components.definitions import kube_apiserver, kwok_kubelet
from kwokctl.components.definitions import kube_apiserver_insecure_proxy as insecure_proxy
from kwokctl.components.egress_file import egress
from kwokctl.components.setting import Setting
from kwokctl.errors import UsageError
from kwokctl.host.carry_out import carry_out
from kwokctl.host.certificates.pki import ensure_pki
from kwokctl.host.files import write_atomic
from kwokctl.host.paths import ClusterPaths
from kwokctl.host.tokens import ensure_tokens
from kwokctl.kube.kubeconfig import entries
from kwokctl.model import Component, ComponentName, Plan
from kwokctl.runtime import Runtime
from kwokctl.script.steps import FileText, Folder


def write_files(home: Home, runtime: Runtime, saved: Saved) -> Plan:
    """Write everything but programs and data that the cluster needs; safe to repeat."""
    paths = home.paths(saved.name)
    plan = saved.plan(runtime, paths)
    for volumes in (each.volumes for each in saved.patches.values()):
        make_paths(volumes)
    for volumes in (each.volumes for each in saved.options.extras):
        make_paths(volumes)
    carry_out(public_files(paths, saved, plan))
    write_credentials(home, runtime, saved)
    return plan


def public_files(paths: ClusterPaths, saved: Saved, plan: Plan) -> Iterator[Folder | FileText]:
    """Yield the folders, and the files without secrets."""
    yield from (Folder(paths.root), Folder(paths.sockets))
    if not paths.sockets.is_relative_to(paths.root):
        yield FileText(paths.sockets_note, f"{paths.sockets}\n", 0o600)
    yield state_file(paths, saved, plan)
    policy = saved.options.of(kube_apiserver.KubeApiserverOptions).audit_policy
    if policy and not paths.audit_policy.exists():
        # The cluster keeps its copy: the user's file may have moved by the next start.
        yield FileText(paths.audit_policy, _read_policy(Path(policy)))
    if saved.options.of(kwok_kubelet.KwokKubeletOptions).node_proxy:
        yield FileText(paths.egress, egress(paths))
    for component in plan.components.values():
        yield from _own_files(paths, component)


def write_credentials(home: Home, runtime: Runtime, saved: Saved) -> None:
    """Write certificates, tokens, and the files that name them; what is valid stays.

    The cache folder notes that this work folder uses its programs.
    """
    paths = home.paths(saved.name)
    remember(home.cache, home.workdir.root)
    known = identities_of(saved.options)
    ensure_pki(paths.pki, known)
    holders = [identity for identity in known if identity.name in token_holders(saved.options)]
    setting = saved.setting(runtime, paths)
    _write_kubeconfigs(setting, saved, ensure_tokens(paths.tokens, holders))
    write_scheduler_config(setting)
    for extra in saved.options.extras:
        if extra.add_on and extra.add_on.webhooks:
            _write_serving_pair(paths, extra.name)


def _write_serving_pair(paths: ClusterPaths, name: ComponentName) -> None:
    """Write the certificate of a server of webhooks under the names that those have by convention."""
    for end, file in (("crt", "tls.crt"), ("key", "tls.key")):
        pem = (paths.pki / f"{name}.{end}").read_text("ascii")
        write_atomic(paths.webhook_certificates(name) / file, pem, mode=0o600)


def _write_kubeconfigs(setting: Setting, saved: Saved, tokens: Mapping[str, str]) -> None:
    paths, server = setting.paths, kube_apiserver.url(setting)
    context = context_name(saved.name)
    admin = entries.by_paths(context, server, paths.pki, cluster_identities.ADMIN)
    write_atomic(paths.kubeconfig, admin, mode=0o600)
    if insecure := insecure_proxy.url(setting):
        write_atomic(paths.insecure_kubeconfig, entries.without_user(context, insecure), mode=0o600)
    # kwokctl's own commands, such as `fault clear`, are hit by no fault of the API.
    direct = kube_apiserver.own_url(setting)
    own = entries.by_token(context, direct, paths.pki / "ca.crt", tokens[cluster_identities.ADMIN])
    write_atomic(paths.own_kubeconfig, own, mode=0o600)
    ca = Path(setting.pki("ca.crt"))
    for name in (each for each in clients(saved.options) if each in tokens):
        address = kube_apiserver.url(setting, name)
        text = entries.by_token(context, address, ca, tokens[name])
        write_atomic(paths.component_kubeconfig(name), text, mode=0o600)


def _own_files(paths: ClusterPaths, component: Component) -> Iterator[Folder | FileText]:
    """Yield what one component reads, and the folders of the cluster that it writes to."""
    folders = dict.fromkeys(path.parent for path in component.files)
    yield from (Folder(folder) for folder in folders if folder != paths.root)
    yield from (FileText(path, text, 0o600) for path, text in component.files.items())
    for mount in component.mounts:
        if not mount.read_only and mount.host_path.is_relative_to(paths.root):
            yield Folder(mount.host_path)


def _read_policy(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as e:
        raise UsageError(f"the audit policy '{path}' cannot be read: {e.strerror}") from e
