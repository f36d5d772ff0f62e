"""Runs loads in a cluster of kwokctl or any other."""

import secrets
from collections.abc import Sequence
from pathlib import Path

import msgspec

from kwokctl.clusters.state.home import Home
from kwokctl.load.arrival import ArrivalSink
from kwokctl.load.load_documents import Load
from kwokctl.load.load_verdict import RunVerdict
from kwokctl.load.past_api.way import no_way, way_into
from kwokctl.load.run_loads import run_loads
from kwokctl.load.target import target_of
from kwokctl.model import ClusterName


def new_run() -> str:
    """Return a name for a run, which no other run has."""
    return secrets.token_hex(4)


class LoadRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The request to run loads."""

    loads: Sequence[Load]
    seed: int = 0
    speed: float = 1.0
    kubeconfig: Path | None = None
    """The cluster, if it is not one of kwokctl."""
    run: str = msgspec.field(default_factory=new_run)


async def run_in_cluster(
    home: Home, name: ClusterName, request: LoadRequest, *, sink: ArrivalSink | None = None
) -> RunVerdict:
    """Run loads in the cluster `name`, or in that of the request's kubeconfig."""
    target = await target_of(home, name, request.kubeconfig)
    return await run_loads(
        request.loads,
        target.access,
        run=request.run,
        seed=request.seed,
        speed=request.speed,
        kubeconfig=target.kubeconfig,
        way=no_way if request.kubeconfig else way_into(home, name),
        sink=sink,
        progress=home.progress,
    )
