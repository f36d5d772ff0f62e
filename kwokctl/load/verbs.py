"""Runs loads in a cluster of kwokctl or any other, and removes what they have made."""

import secrets
from collections.abc import Sequence
from pathlib import Path

import msgspec

from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import load
from kwokctl.embedded.cluster_access import cluster_access, with_credential
from kwokctl.kube.kubeconfig.access import Access, load_access
from kwokctl.load.arrival import ArrivalSink
from kwokctl.load.documents import Load
from kwokctl.load.run_loads import run_loads
from kwokctl.load.verdict import Verdict
from kwokctl.model import ClusterName


class LoadRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The request to run loads."""

    loads: Sequence[Load]
    seed: int = 0
    speed: float = 1.0
    kubeconfig: Path | None = None
    """The cluster, if it is not one of kwokctl."""


def new_run() -> str:
    """Return a name for a run, which no other run has."""
    return secrets.token_hex(4)


async def access_to(home: Home, name: ClusterName, kubeconfig: Path | None) -> Access:
    """Return how to reach a cluster, of kwokctl or that of a kubeconfig."""
    if kubeconfig is not None:
        return await with_credential(cluster_access(kubeconfig, ""))
    paths = home.paths(name)
    load(paths, name)
    return load_access(paths.own_kubeconfig)


async def run_in_cluster(
    home: Home, name: ClusterName, request: LoadRequest, *, sink: ArrivalSink | None = None
) -> Verdict:
    """Run loads in the cluster `name`, or in that of the request's kubeconfig."""
    access = await access_to(home, name, request.kubeconfig)
    return await run_loads(
        request.loads,
        access,
        run=new_run(),
        seed=request.seed,
        speed=request.speed,
        sink=sink,
        progress=home.progress,
    )
