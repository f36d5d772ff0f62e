"""The cluster that loads are for: one of kwokctl, or that of any kubeconfig."""

from pathlib import Path

from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import load
from kwokctl.embedded.cluster_access import cluster_access, with_credential
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.model import ClusterName


def kubeconfig_of(home: Home, name: ClusterName, kubeconfig: Path | None) -> Path:
    """Return the kubeconfig of a cluster of kwokctl, unless another kubeconfig is given."""
    if kubeconfig is not None:
        return kubeconfig
    paths = home.paths(name)
    load(paths, name)  # NotFoundError if there is no such cluster
    return paths.own_kubeconfig


async def access_by(kubeconfig: Path) -> Access:
    """Return how to reach the cluster of a kubeconfig."""
    return await with_credential(cluster_access(kubeconfig, ""))
