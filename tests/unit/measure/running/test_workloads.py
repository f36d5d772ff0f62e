"""Workloads of a run at which no controller has looked: its pods are still to come."""

import asyncio
from typing import Any

import pytest

from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.pool import Pool
from kwokctl.load.arrival import Made
from kwokctl.measure.histories.history import History
from kwokctl.measure.running import ending
from kwokctl.measure.running.workloads import Workloads
from tests.support.fake_api_server import Reply, Request, serving
from tests.support.measured import BEGIN, SECOND, header


def made(kind: str, uid: str, api_version: str = "apps/v1") -> Made:
    return Made(api_version, kind, "default", uid, uid)


def workload(uid: str, generation: int, observed: int | None) -> dict[str, Any]:
    status = {} if observed is None else {"observedGeneration": observed}
    return {"metadata": {"uid": uid, "generation": generation}, "status": status}


class Cluster:
    """An API server that lists these workloads."""

    def __init__(self, *items: dict[str, Any], status: int = 200) -> None:
        self.items = [*items]
        self.status = status
        self.asked: list[Request] = []

    async def handle(self, request: Request, reply: Reply) -> None:
        self.asked.append(request)
        metadata = {"resourceVersion": "1"}
        await reply.json({"metadata": metadata, "items": self.items}, status=self.status)

    async def look(self, *arrived: Made, times: int = 1) -> str:
        async with serving(self.handle) as server, Pool(Access(server=server.url)) as pool:
            workloads = Workloads(pool, "run-1")
            workloads.note(arrived)
            for _ in range(times):
                await workloads.look()
            return workloads.new


async def test_those_that_no_controller_has_looked_at_are_counted() -> None:
    cluster = Cluster(workload("a", 1, None), workload("b", 1, 1), workload("of another", 1, None))

    new = await cluster.look(
        made("Deployment", "a"), made("Deployment", "b"), made("Pod", "p", "v1")
    )

    assert new == "1 Deployments at which no controller has looked"
    (asked,) = cluster.asked
    assert asked.path == "/apis/apps/v1/deployments"
    assert asked.query["labelSelector"] == "kwokctl.dev/run=run-1"


async def test_those_that_were_looked_at_once_are_not_asked_for_again() -> None:
    cluster = Cluster(workload("a", 2, 2))

    assert await cluster.look(made("StatefulSet", "a"), times=2) == ""
    assert len(cluster.asked) == 1


@pytest.mark.parametrize(
    ("status", "new"), [(403, ""), (500, "1 DaemonSets at which no controller has looked")]
)
async def test_what_may_not_be_listed_is_not_waited_for(status: int, new: str) -> None:
    assert await Cluster(status=status).look(made("DaemonSet", "a")) == new


async def test_a_run_is_not_over_before() -> None:
    cluster = Cluster(workload("a", 1, None))
    found, time = History.of(header(), [BEGIN]), 0
    async with serving(cluster.handle) as server, Pool(Access(server=server.url)) as pool:
        workloads = Workloads(pool, "run-1")
        workloads.note([made("ReplicaSet", "a")])

        def now() -> int:
            """Return a time that passes with each look."""
            nonlocal time
            time += SECOND
            if time > 30 * SECOND:
                cluster.items[0]["status"]["observedGeneration"] = 1
            return time

        async with asyncio.timeout(60):
            await ending.drained(found, workloads, now, is_watched=lambda: True)

    assert time > 33 * SECOND, "its pods may come after that"
    assert ending.undrained(found, workloads) == ""
