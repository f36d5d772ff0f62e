"""Objects are waited for by a watch; a wait in vain says what is missing."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from kwokctl.clusters.objects.kinds import KindFinder
from kwokctl.clusters.objects.wait import ObjectWait, in_words, predicate, wait_for
from kwokctl.errors import ExpressionError, TimedOutError, UsageError
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import PODS
from kwokctl.kube.transport.pool import Pool
from kwokctl.waits import Standstill
from tests.support.cluster_server import ClusterServer
from tests.support.fake_api_server import serving
from tests.support.fake_cluster import FakeCluster


def _pod(name: str, phase: str = "Pending", **labels: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "default", "labels": labels}
    return {"metadata": metadata, "status": {"phase": phase}}


@asynccontextmanager
async def _served(cluster: FakeCluster) -> AsyncIterator[Pool]:
    async with serving(ClusterServer(cluster)) as server, Pool(Access(server=server.url)) as pool:
        yield pool


async def _waited(pool: Pool, seconds: float = 30.0, **words: Any) -> list[str]:
    found = await wait_for(pool, KindFinder(Client(pool)), ObjectWait(**words), seconds)
    assert {(each["apiVersion"], each["kind"]) for each in found} <= {("v1", "Pod")}
    return [each["metadata"]["name"] for each in found]


async def test_what_is_as_wanted_is_returned_at_once() -> None:
    cluster = FakeCluster()
    cluster.put(PODS, _pod("b", "Running"))
    cluster.put(PODS, _pod("a", "Running"))
    async with _served(cluster) as pool:
        assert await _waited(pool, what="pods", condition='.status.phase == "Running"') == [
            "a",
            "b",
        ]
        assert await _waited(pool, what="Pod", count=2) == ["a", "b"]
        assert await _waited(pool, what="pods", selector="x=y", condition="deleted") == []
        assert await _waited(pool, what="pods", selector="x=y", count=0) == []


async def test_a_change_ends_the_wait() -> None:
    cluster = FakeCluster()
    cluster.put(PODS, _pod("a"))
    async with _served(cluster) as pool, asyncio.TaskGroup() as tasks:
        running = '.status.phase == "Running"'
        waiting = tasks.create_task(_waited(pool, what="pods", condition=running, count=2))
        cluster.put(PODS, _pod("b", "Running"))
        cluster.change(PODS, "a", "default", status={"phase": "Running"})

    assert waiting.result() == ["a", "b"]


async def test_a_deletion_ends_the_wait() -> None:
    cluster = FakeCluster()
    cluster.put(PODS, _pod("a"))
    async with _served(cluster) as pool, asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(_waited(pool, what="pods", condition="deleted"))
        cluster.remove(PODS, "a", "default")

    assert waiting.result() == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"selector": "x=y"}, "there are 0 pods$"),
        ({"count": 3}, "there are 7 pods, not 3"),
        ({"condition": "deleted"}, "these still exist: Pod default/p0, .* and 2 more"),
        ({"condition": "Ready"}, "not 'Ready': Pod default/p0, Pod default/p1"),
    ],
)
async def test_a_wait_in_vain_says_what_is_missing(words: dict[str, Any], message: str) -> None:
    cluster = FakeCluster()
    for number in range(7):
        cluster.put(PODS, _pod(f"p{number}"))
    async with _served(cluster) as pool:
        with pytest.raises(TimedOutError, match=f"after 0.2 s {message}"):
            await _waited(pool, 0.2, what="pods", **words)


async def test_one_object_that_is_not_there_is_named() -> None:
    async with _served(FakeCluster()) as pool:
        with pytest.raises(TimedOutError, match=r"after 0.2 s 'pod/a' does not exist$"):
            await _waited(pool, 0.2, what="pod/a")


def test_one_object_has_no_number_and_no_selector() -> None:
    with pytest.raises(UsageError, match="'pod/a' is one object"):
        ObjectWait(what="pod/a", count=2)


async def test_a_wait_that_stands_still_says_so() -> None:
    cluster = FakeCluster()
    cluster.put(PODS, _pod("a"))
    async with _served(cluster) as pool:
        with pytest.raises(TimedOutError, match=r"after 0\.2 s without progress there are 1 pods"):
            await _waited(pool, Standstill(0.2), what="pods", count=2)


READY = {
    "metadata": {"name": "a"},
    "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
}


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("exists", True),
        ("Ready", True),
        ("ready=true", True),
        ("Ready=False", False),
        ("Available", False),
        ('.status.phase == "Running"', True),
        (".status.replicas == 3", False),
        (".status.conditions | length == 1", True),
        (".spec.none.at.all", False),
    ],
)
def test_words_say_how_an_object_is_to_be(condition: str, holds: bool) -> None:
    assert predicate(condition)(READY) is holds


def test_an_object_without_a_status_fulfils_no_condition() -> None:
    assert not predicate("Ready")({"metadata": {}, "status": None})


def test_a_function_decides_by_itself() -> None:
    def is_called_a(obj: object) -> bool:
        return obj == READY

    assert predicate(is_called_a)(READY)
    assert in_words(is_called_a) == "is_called_a"
    assert in_words(lambda _: True) == "as wanted"
    assert in_words("Ready") == "'Ready'"


def test_what_is_no_condition_is_refused() -> None:
    with pytest.raises(UsageError, match="'is ready' is not a condition"):
        predicate("is ready")
    with pytest.raises(ExpressionError):
        predicate(".status[")
