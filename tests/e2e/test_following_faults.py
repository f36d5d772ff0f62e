"""Nodes that come while a fault is open that follows: they are healthy at no moment of their lives."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, contextmanager
from functools import partial
from typing import Any

import msgspec
import pytest

from kwokctl.kube.client import Client
from kwokctl.kube.collections.watch import Event, EventType, watch
from kwokctl.kube.resource import NODES
from tests.support.direct import ask
from tests.support.injected import create, phase, shows, status
from tests.support.installed import Installed, condition, until

pytestmark = [pytest.mark.components, pytest.mark.e2e, pytest.mark.timeout(600, func_only=True)]


@pytest.fixture(scope="module")
def cluster(with_faults: Installed) -> Installed:
    with_faults.ok("scale", "node", "--replicas", "2", "--wait")
    return with_faults


@pytest.fixture
def storm(cluster: Installed) -> Iterator[str]:
    """Return a Fault that hits each node of the pool `bad`, of which there is none."""
    create(
        cluster, "storm", "not-ready",
        target={"where": '"pool" in labels && labels["pool"] == "bad"', "follow": True},
    )  # fmt: skip
    until("the fault waits for nodes", lambda: phase(cluster, "storm") == "Landed")
    yield "storm"
    cluster.delete("faults", "--all")


class Lives:
    """The versions of nodes, as a watch has shown them.

    It goes on where the API server has ended it, as it does with one that is read too slowly; kubectl's would not.
    """

    def __init__(self) -> None:
        self.has_begun = threading.Event()
        self._statuses: dict[str, list[str]] = {}
        self._end: Callable[[], object] = lambda: None

    def until_last(self, prefix: str, statuses: list[str]) -> dict[str, list[str]]:
        """Wait until the last statuses are these, and return all statuses of Ready of each node by its name and uid."""
        until(
            f"{prefix} is watched",
            lambda: [each[-1] for each in self._seen(prefix).values()] == statuses,
        )
        return self._seen(prefix)

    async def follow(self, client: Client) -> None:
        """Note what happens to nodes until `end` is called."""
        async with asyncio.TaskGroup() as tasks:
            following = tasks.create_task(self._follow(client))
            self._end = partial(asyncio.get_running_loop().call_soon_threadsafe, following.cancel)

    def end(self) -> None:
        """Stop, from another thread."""
        self._end()

    async def _follow(self, client: Client) -> None:
        async with aclosing(watch(client.pool, NODES, decoder=msgspec.json.decode)) as batches:
            async for batch in batches:
                for event in batch:
                    self._note(event)

    def _note(self, event: Event[Any]) -> None:
        if event.type is EventType.SYNCED:
            self.has_begun.set()
        elif event.object is not None and event.type is not EventType.DELETED:
            known = f"{event.object['metadata']['name']} {event.object['metadata']['uid']}"
            self._statuses.setdefault(known, []).append(condition(event.object, "Ready"))

    def _seen(self, prefix: str) -> dict[str, list[str]]:
        return {name: seen for name, seen in [*self._statuses.items()] if name.startswith(prefix)}


@contextmanager
def watched(cluster: Installed) -> Iterator[Lives]:
    """Watch all nodes meanwhile."""
    lives = Lives()
    with ThreadPoolExecutor(max_workers=1) as threads:
        following = threads.submit(ask, cluster, lives.follow)
        try:
            until("the watch has begun", lambda: lives.has_begun.is_set() or following.done())
            yield lives
        finally:
            lives.end()
        following.result()


def is_shown(cluster: Installed, *nodes: str) -> bool:
    return all(shows(cluster, node) == {"storm"} for node in nodes)


def is_hit(cluster: Installed, name: str) -> bool:
    return condition(cluster.found("nodes", name), "Ready") == "False"


def names(kind: str, number: int) -> list[str]:
    return [f"{kind}-{index:06}" for index in range(number)]


BAD = ("--param", '.labels = {"pool": "bad"}')


def test_nodes_of_scale_are_born_with_the_fault(cluster: Installed, storm: str) -> None:
    with watched(cluster) as lives:
        cluster.ok("scale", "node", "sick", "--replicas", "60", *BAD)
        cluster.ok("scale", "node", "well", "--replicas", "5", "--wait")
        until("all show it", lambda: is_shown(cluster, *names("sick", 60)))
        until("all are counted", lambda: status(cluster, storm).get("landed") == 60)
        seen = lives.until_last("sick", 60 * ["False"])

    assert len(seen) == 60
    assert all("True" not in statuses for statuses in seen.values())
    assert all(not shows(cluster, name) for name in names("well", 5))
    assert status(cluster, storm)["units"] == 60
    cluster.delete("fault", storm)
    until(
        "all are healthy",
        lambda: all(
            condition(node, "Ready") == "True" and not shows(cluster, node["metadata"]["name"])
            for node in cluster.objects("nodes")
        ),
    )
    cluster.ok("scale", "node", "sick", "--replicas", "0", "--yes")


def node(name: str, pool: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"pool": pool},
            "annotations": {"kwok.x-k8s.io/node": "fake"},
        },
    }


def test_nodes_that_others_make_are_born_with_the_fault(cluster: Installed, storm: str) -> None:
    with watched(cluster) as lives:
        cluster.apply(node("made-0", "bad"))
        cluster.apply(node("made-1", "good"))
        until("the node shows it", lambda: is_hit(cluster, "made-0"))
        until(
            "the other is Ready",
            lambda: condition(cluster.found("nodes", "made-1"), "Ready") == "True",
        )
        cluster.delete("node", "made-0")
        cluster.apply(node("made-0", "bad"))
        until("the new one shows it", lambda: is_hit(cluster, "made-0"))
        seen = lives.until_last("made-0", 2 * ["False"])

    assert len(seen) == 2
    assert all("True" not in statuses for statuses in seen.values())


def test_a_node_under_the_name_of_another_inherits_no_fault(cluster: Installed) -> None:
    cluster.apply(node("other-0", "good"))
    until(
        "the node is Ready",
        lambda: condition(cluster.found("nodes", "other-0"), "Ready") == "True",
    )
    create(cluster, "storm", "not-ready", target={"nodes": ["other-0"]})
    until("the node shows it", lambda: is_hit(cluster, "other-0"))

    with watched(cluster) as lives:
        cluster.delete("node", "other-0")
        cluster.apply(node("other-0", "good"))
        until(
            "the new one is Ready",
            lambda: condition(cluster.found("nodes", "other-0"), "Ready") == "True",
        )
        seen = lives.until_last("other-0", ["False", "True"])

    uid = cluster.found("nodes", "other-0")["metadata"]["uid"]
    assert "False" not in seen[f"other-0 {uid}"]
    assert not shows(cluster, "other-0")
    cluster.delete("faults", "--all")
