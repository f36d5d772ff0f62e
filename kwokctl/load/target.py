"""The cluster that loads are for: one of kwokctl, or that of any kubeconfig."""

from pathlib import Path

import msgspec

from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import load
from kwokctl.clusters.stopped_components import demand_running
from kwokctl.embedded.cluster_access import cluster_access, with_credential
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.model import KUBE_APISERVER, ClusterName


class LoadTarget(msgspec.Struct, frozen=True):
    """The cluster of a load, as its client and its commands reach it."""

    access: Access
    kubeconfig: Path


async def target_of(home: Home, name: ClusterName, kubeconfig: Path | None) -> LoadTarget:
    """Return how to reach the cluster of a kubeconfig, or without one the cluster `name`.

    Raises NotFoundError if there is none, and ComponentError if its API server does not run.
    """
    if kubeconfig is None:
        paths = home.paths(name)
        saved = load(paths, name)
        await demand_running(home, home.runtime(saved.options.runtime), name, KUBE_APISERVER)
        kubeconfig = paths.own_kubeconfig
    access = await with_credential(cluster_access(kubeconfig, ""))
    return LoadTarget(access, kubeconfig)
