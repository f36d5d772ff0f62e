"""The commands by which kubectl and etcdctl are run against a cluster."""

import shutil

from kwokctl.clusters.home import Home
from kwokctl.clusters.programs import programs
from kwokctl.clusters.saved import load
from kwokctl.components import identities
from kwokctl.model import ETCD, ClusterName

Command = tuple[list[str], dict[str, str]]
"""The leading words of a command, and what its environment needs."""


async def kubectl_command(home: Home, name: ClusterName) -> Command:
    """Return kubectl for a cluster: the one given, else that of the PATH, else our own."""
    saved = load(home.paths(name), name)
    on_path = None if saved.options.kubectl_binary else shutil.which("kubectl")
    program = [on_path] if on_path else await _own(home, name, "kubectl")
    return [*program, f"--kubeconfig={home.paths(name).kubeconfig}"], {}


async def etcdctl_command(home: Home, name: ClusterName) -> Command:
    """Return etcdctl for a cluster's etcd."""
    return await _own(home, name, "etcdctl"), etcdctl_environment(home, name)


def environment(home: Home, name: ClusterName) -> dict[str, str]:
    """Return the variables with which kubectl, etcdctl and other clients find a cluster."""
    own = {"KUBECONFIG": str(home.paths(name).kubeconfig)}
    return own | etcdctl_environment(home, name)


def etcdctl_environment(home: Home, name: ClusterName) -> dict[str, str]:
    """Return what etcdctl needs: the address, and the certificate that etcd's port asks for."""
    paths = home.paths(name)
    saved = load(paths, name)
    options, setting = saved.options, saved.setting(home.runtime(saved.options.runtime), paths)
    pki, client = paths.pki, identities.ETCD_CLIENT
    endpoint = setting.address(ETCD, options.etcd_port)
    if not options.etcd_tls:
        return {"ETCDCTL_ENDPOINTS": endpoint}
    return {
        "ETCDCTL_ENDPOINTS": f"https://{endpoint}",
        "ETCDCTL_CACERT": str(pki / "ca.crt"),
        "ETCDCTL_CERT": str(pki / f"{client}.crt"),
        "ETCDCTL_KEY": str(pki / f"{client}.key"),
    }


async def _own(home: Home, name: ClusterName, tool: str) -> list[str]:
    saved = load(home.paths(name), name)
    return list((await programs(home, saved.options, [tool]))[tool].command)
