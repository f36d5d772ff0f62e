"""Writes past the API server beside writes through it: each of them counts, and nothing else is there."""

import asyncio
from collections import Counter
from collections.abc import Callable
from random import Random

import pytest

from kwokctl.json_value import Json
from kwokctl.kube.resource import LEASES, NODE_LEASES, NODES, PODS, Resource
from tests.support import changing
from tests.support.installed import Installed
from tests.support.planes import reached
from tests.support.racing.ground import Ground
from tests.support.racing.kubelets import Kubelet, LeaseHolder
from tests.support.racing.others import Other
from tests.support.racing.race import Race

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
]


OBJECTS = 12
"""So few that writers meet all the time."""
TURNS = 50
"""Of each writer."""


@pytest.fixture(scope="module")
def cluster(small_storage: Installed) -> Installed:
    small_storage.create(changing.service_account("default"))
    return small_storage


def pod(number: int) -> Json:
    return {
        "metadata": {"name": f"raced-{number}", "namespace": "default"},
        "spec": {"nodeName": "somewhere", "containers": [{"name": "c", "image": "busybox"}]},
    }


def node(number: int) -> Json:
    return {"metadata": {"name": f"raced-{number}"}}


def lease(number: int) -> Json:
    return {"metadata": {"name": f"raced-{number}", "namespace": NODE_LEASES}, "spec": {}}


@pytest.mark.parametrize(
    ("resource", "body", "kubelets", "others"),
    [(PODS, pod, 8, 12), (NODES, node, 8, 12), (LEASES, lease, 2, 12)],
    ids=["pods", "nodes", "leases"],
)
def test_no_write_is_lost_and_nothing_that_was_deleted_comes_back(
    cluster: Installed,
    resource: Resource,
    body: Callable[[int], Json],
    kubelets: int,
    others: int,
) -> None:
    bodies = [body(number) for number in range(OBJECTS)]
    kubelet = LeaseHolder if resource == LEASES else Kubelet

    async def race() -> tuple[list[str], Counter[str]]:
        async with reached(cluster) as ways:
            ground = Ground(ways, resource, bodies, Random(resource.plural))
            racers = [
                *(kubelet(ground) for _ in range(kubelets)),
                *(Other(ground) for _ in range(others)),
            ]
            return await Race(ground).run(racers, turns=TURNS), ground.outcomes

    faults, outcomes = asyncio.run(race())

    assert faults == []
    assert outcomes["ok"] > 2 * TURNS
    assert outcomes["Conflict"] > TURNS / 2
