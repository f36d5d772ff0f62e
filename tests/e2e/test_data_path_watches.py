"""A client that lists and watches while a fleet is written to etcd sees every object of it."""

import asyncio
from collections.abc import Sequence
from random import Random

import pytest

from kwokctl.kube.client import Client
from kwokctl.kube.collections.paging import ListQuery
from kwokctl.kube.resource import NODES, PODS, Resource
from tests.support.data_paths import data_paths
from tests.support.eventually import eventually
from tests.support.followers import Follower, Manner
from tests.support.installed import PATIENCE, TELLING, Installed
from tests.support.planes import connected

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.story,
    pytest.mark.timeout(600, func_only=True),
]

NODE_NUMBER, POD_NUMBER = 450, 900
LATE = 20
"""Clients that come while the fleet is written."""


@pytest.fixture(scope="module")
def cluster(usual: Installed) -> Installed:
    return usual


async def listed(client: Client, resource: Resource) -> dict[str, str]:
    """Return what a client knows that comes when all is over."""
    follower = Follower(client, ListQuery(resource=resource), Manner.PAGES)
    await follower.begin()
    return follower.known


async def ignorant(
    cluster: Installed, resource: Resource, words: Sequence[str], events: int
) -> Sequence[str]:
    """Scale, with clients that follow; return which of them know something else than there is.

    `events` is how many there will be at least.
    """
    random = Random(" ".join(words))
    async with connected(cluster) as client, asyncio.TaskGroup() as tasks:

        def follower(number: int) -> Follower:
            manner = list(Manner)[number % len(Manner)]
            return Follower(client, ListQuery(resource=resource), manner, Random(random.random()))

        async def come(late: Follower, after: int) -> None:
            await eventually(lambda: pilot.heard >= after)
            await late.run()

        pilot = Follower(client, ListQuery(resource=resource), Manner.PAGES)
        present, coming = [pilot, follower(0), follower(2)], [follower(n) for n in range(LATE)]
        running = [tasks.create_task(each.run()) for each in present]
        running += [tasks.create_task(come(each, random.randrange(events))) for each in coming]
        said = await asyncio.to_thread(cluster.run, *TELLING, "scale", *words, "--wait", "180s")
        assert (said.code, data_paths(said.err)) == (0, ["etcd"]), said.err
        everybody = [*present, *coming]
        wrong = await differences(client, resource, everybody)
        for task in running:
            task.cancel()
        assert sum(each.cuts for each in everybody) > LATE
    return wrong


async def differences(
    client: Client, resource: Resource, followers: Sequence[Follower]
) -> Sequence[str]:
    """Wait until all know what there is, though it may go on changing; return who does not."""
    deadline = asyncio.get_running_loop().time() + PATIENCE
    while True:
        right = await listed(client, resource)
        wrong = [
            f"who {each.manner.value}: {sorted(each.known.items() ^ right.items())[:9]}"
            for each in followers
            if each.known != right
        ]
        if not wrong or asyncio.get_running_loop().time() > deadline:
            return wrong
        await asyncio.sleep(0.1)


CASES: Sequence[tuple[Resource, Sequence[str], int]] = [
    (NODES, ("node", "--replicas", str(NODE_NUMBER)), NODE_NUMBER),
    (PODS, ("pod", "--replicas", str(POD_NUMBER), "--on-nodes", "type=kwok"), POD_NUMBER),
    (PODS, ("pod", "--replicas", "200"), POD_NUMBER - 200),
]


@pytest.mark.parametrize(("resource", "words", "events"), CASES, ids=["nodes", "pods", "fewer"])
def test_clients_that_come_and_are_cut_off_at_any_moment_miss_nothing(
    cluster: Installed, resource: Resource, words: Sequence[str], events: int
) -> None:
    assert asyncio.run(ignorant(cluster, resource, words, events)) == []
