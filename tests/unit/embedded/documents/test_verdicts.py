"""Conditions of custom resources that are wrong."""

import asyncio
from typing import Any

from kwokctl.embedded.documents.verdicts import Verdicts
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import Resource
from kwokctl.kube.transport.pool import Pool
from tests.support.cluster_server import ClusterServer
from tests.support.eventually import eventually
from tests.support.fake_api_server import serving
from tests.support.fake_cluster import FakeCluster

STAGES = Resource("kwok.x-k8s.io", "v1alpha1", "stages", "Stage", namespaced=False)
AVAILABLE = {"type": "Available", "status": "True"}


def stage(**status: Any) -> dict[str, Any]:
    return {"metadata": {"name": "s", "generation": 3}, "spec": {}, "status": status}


async def written(refused: dict[str, str], **status: Any) -> list[dict[str, Any]]:
    """Return the conditions of a Stage after a verdict."""
    cluster = FakeCluster()
    body = cluster.put(STAGES, stage(**status))
    before = str(body["metadata"]["resourceVersion"])
    async with (
        serving(ClusterServer(cluster, STAGES)) as server,
        Pool(Access(server=server.url)) as pool,
        asyncio.TaskGroup() as tasks,
    ):
        verdicts = Verdicts(Client(pool), "Stage", lambda: 1_767_268_800.0)
        task = tasks.create_task(verdicts.run())
        verdicts.note({"s": body}, refused)
        marker = cluster.put(STAGES, {**stage(), "metadata": {"name": "marker"}})
        if refused or status:
            await eventually(
                lambda: cluster.object(STAGES, "s")["metadata"]["resourceVersion"] != before
            )
        verdicts.note({"marker": marker}, {"marker": "wrong"})
        await eventually(lambda: cluster.object(STAGES, "marker")["status"].get("conditions"))
        task.cancel()
    return list(cluster.object(STAGES, "s")["status"].get("conditions", []))


async def test_one_that_is_wrong_says_so_beside_the_conditions_of_others() -> None:
    available, accepted = await written({"s": "'spec' is wrong"}, conditions=[AVAILABLE])

    assert available == AVAILABLE
    assert accepted == {
        "type": "Accepted",
        "status": "False",
        "reason": "Invalid",
        "message": "'spec' is wrong",
        "observedGeneration": 3,
        "lastTransitionTime": "2026-01-01T12:00:00Z",
    }


async def test_one_that_was_wrong_says_that_it_is_not_any_more() -> None:
    was = {"type": "Accepted", "status": "False", "reason": "Invalid", "message": "'spec' is wrong"}

    [accepted] = await written({}, conditions=[was])

    assert (accepted["status"], accepted["reason"], accepted["message"]) == ("True", "Valid", "")


async def test_one_that_was_always_right_is_left_alone() -> None:
    assert await written({}) == []
