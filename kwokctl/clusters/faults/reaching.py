"""Reaches the cluster whose faults a command is about."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import Saved, load
from kwokctl.clusters.stopped_components import demand_running
from kwokctl.components.definitions.kwok_controller import KwokControllerOptions
from kwokctl.errors import NotServedError
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import load_access
from kwokctl.kube.transport.pool import Pool
from kwokctl.model import KUBE_APISERVER, KWOK_API_PROXY, KWOK_CONTROLLER, ClusterName


class FaultCluster(msgspec.Struct, frozen=True):
    """A cluster that answers."""

    home: Home
    saved: Saved
    client: Client


@asynccontextmanager
async def fault_cluster(home: Home, name: ClusterName) -> AsyncIterator[FaultCluster]:
    """Yield a cluster; NotFoundError if there is none, ComponentError, with a hint, if its API server does not run."""
    paths = home.paths(name)
    saved = load(paths, name)
    await demand_running(home, home.runtime(saved.options.runtime), name, KUBE_APISERVER)
    async with Pool(load_access(paths.own_kubeconfig)) as pool:
        yield FaultCluster(home, saved, Client(pool))


def demand_api_proxy(cluster: FaultCluster) -> None:
    """Raise NotServedError if the cluster has no proxy, which carries out faults of the API."""
    if KWOK_API_PROXY not in cluster.saved.names:
        raise NotServedError(
            f"the cluster '{cluster.saved.name}' has no proxy in front of its API server, which would carry out faults "
            "of the API",
            hint="create a cluster with: kwokctl create cluster --api-faults",
        )


def demand_player(cluster: FaultCluster) -> None:
    """Raise NotServedError if no controller of the cluster plays faults, and warn if it may have none."""
    if cluster.saved.options.of(KwokControllerOptions).binary:
        raise NotServedError(
            f"the controller of the cluster '{cluster.saved.name}' is another program, and only kwokctl's own plays faults",
            hint="create the cluster without --kwok-controller-binary",
        )
    if KWOK_CONTROLLER not in cluster.saved.names:
        cluster.home.progress.warn(
            f"the cluster '{cluster.saved.name}' has no {KWOK_CONTROLLER}: "
            "a Fault does nothing until a controller of kwokctl runs in it"
        )
