"""Builds the commands that run kubectl, etcdctl and etcdutl for a cluster."""

import asyncio
import shutil

from kwokctl.clusters.programs.needed import programs
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import Saved, load
from kwokctl.components import cluster_identities
from kwokctl.components.definitions.etcd import EtcdOptions
from kwokctl.errors import ComponentError
from kwokctl.model import ETCD, KUBE_APISERVER, ClusterName, ComponentName

_PATIENCE = 1.0
"""Seconds after which a server that neither answers nor refuses is left to the tool."""
Command = tuple[list[str], dict[str, str]]
"""The leading words of a command, and what its environment needs."""


async def kubectl_command(home: Home, name: ClusterName, *, dials: bool = True) -> Command:
    """Return kubectl for a cluster: the one given, else that of the PATH, else kwokctl's own.

    Raises ComponentError if it is to dial the API server and that does not listen. Warns if etcd
    does not: the API server then keeps kubectl waiting for a minute and names no cause.
    """
    saved = load(home.paths(name), name)
    if dials:
        await _demand(home, saved, KUBE_APISERVER)
        if await _refusing(home, saved, ETCD):
            home.progress.warn(
                f"'{ETCD}' of the cluster '{name}' does not run, so that most requests time out; "
                f"{_start(name)}"
            )
    on_path = None if saved.options.tools.kubectl else shutil.which("kubectl")
    program = [on_path] if on_path else await _own(home, name, "kubectl")
    return [*program, f"--kubeconfig={home.paths(name).kubeconfig}"], {}


async def etcdctl_command(home: Home, name: ClusterName, *, dials: bool = True) -> Command:
    """Return etcdctl for a cluster's etcd; ComponentError if it is to dial and etcd does not listen."""
    saved = load(home.paths(name), name)
    if dials:
        await _demand(home, saved, ETCD)
    return await _own(home, name, "etcdctl"), etcdctl_environment(home, name)


async def etcdutl_command(home: Home, name: ClusterName) -> Command:
    """Return the etcdutl of a cluster's version of etcd: it works on files, running or not."""
    return await _own(home, name, "etcdutl"), {}


def environment(home: Home, name: ClusterName) -> dict[str, str]:
    """Return the variables with which kubectl, etcdctl and other clients find a cluster."""
    own = {"KUBECONFIG": str(home.paths(name).kubeconfig)}
    return own | etcdctl_environment(home, name)


def etcdctl_environment(home: Home, name: ClusterName) -> dict[str, str]:
    """Return what etcdctl needs: the address, and the certificate that etcd's port asks for."""
    paths = home.paths(name)
    saved = load(paths, name)
    options, setting = saved.options, saved.setting(home.runtime(saved.options.runtime), paths)
    pki, client = paths.pki, cluster_identities.ETCD_CLIENT
    endpoint = setting.address(ETCD)
    if not options.of(EtcdOptions).tls:
        return {"ETCDCTL_ENDPOINTS": endpoint}
    return {
        "ETCDCTL_ENDPOINTS": f"https://{endpoint}",
        "ETCDCTL_CACERT": str(pki / "ca.crt"),
        "ETCDCTL_CERT": str(pki / f"{client}.crt"),
        "ETCDCTL_KEY": str(pki / f"{client}.key"),
    }


async def _demand(home: Home, saved: Saved, component: ComponentName) -> None:
    """Raise ComponentError, with the remedy, if a component refuses connections."""
    address = await _refusing(home, saved, component)
    if address is None:
        return
    is_stopped = home.paths(saved.name).stopped.exists()
    state = "is stopped" if is_stopped else f"has no {component} that listens at '{address}'"
    look = "" if is_stopped else f"; its log: kwokctl --name {saved.name} logs {component}"
    raise ComponentError(f"the cluster '{saved.name}' {state}", hint=_start(saved.name) + look)


async def _refusing(home: Home, saved: Saved, component: ComponentName) -> str | None:
    """Return the address of a component that refuses connections; None if it does not."""
    setting = saved.setting(home.runtime(saved.options.runtime), home.paths(saved.name))
    address = setting.address(component)
    host, _, number = address.rpartition(":")
    try:
        async with asyncio.timeout(_PATIENCE):
            _, writer = await asyncio.open_connection(host.strip("[]"), int(number))
    except ConnectionRefusedError:
        return address
    except (OSError, TimeoutError):
        return None  # the tool itself reports best what is wrong
    writer.close()
    return None


def _start(name: ClusterName) -> str:
    return f"start it with: kwokctl start cluster --name {name}"


async def _own(home: Home, name: ClusterName, tool: str) -> list[str]:
    saved = load(home.paths(name), name)
    return list((await programs(home, saved.options, [tool]))[tool].command)
