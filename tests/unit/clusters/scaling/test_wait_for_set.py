""""""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from kwokctl.clusters.scaling.cluster_reader import Change, members_of
from kwokctl.clusters.scaling.ready_objects import Verdict
from kwokctl.clusters.scaling.scale_request import LABEL
from kwokctl.clusters.scaling.wait_for_set import ReadinessWatch, Stragglers
from kwokctl.errors import ApiError
from tests.support import virtual_time
from tests.support.memory_cluster import MemoryCluster


def change(exists: bool, text: str) -> Change:
    """Read `name:lacks`, where nothing after the colon means ready."""
    name, _, lacks = text.partition(":")
    return Change(exists, Verdict(name, lacks or None))


async def batches(*changes: tuple[bool, str]) -> AsyncIterator[Sequence[Change]]:
    yield [change(exists, text) for exists, text in changes]


async def followed(
    *changes: tuple[bool, str], wanted: str = "ab"
) -> tuple[ReadinessWatch, list[str]]:
    became_ready: list[str] = []
    following = ReadinessWatch(wanted, became_ready.append)
    await following.follow(batches(*changes))
    return following, became_ready


async def test_objects_are_counted_once_they_are_ready() -> None:
    following, became_ready = await followed((True, "a:late"), (True, "a:"), (True, "a:"))

    assert following.ready == 1
    assert became_ready == ["a"]


async def test_an_object_can_lose_its_readiness_and_regain_it() -> None:
    following, became_ready = await followed((True, "a:"), (True, "a:broken"), (True, "a:"))

    assert following.ready == 1
    assert became_ready == ["a", "a"]


async def test_an_object_that_goes_away_is_not_ready() -> None:
    following, _ = await followed((True, "a:"), (False, "a:"), (False, "b:"))

    assert following.ready == 0
    assert following.laggards() == [
        Verdict("a", "does not exist"),
        Verdict("b", "does not exist"),
    ]


async def test_surplus_objects_do_not_count_but_must_be_deleted() -> None:
    following, became_ready = await followed((True, "x:"), wanted="")

    assert (following.ready, became_ready) == (0, [])
    assert following.laggards() == [Verdict("x", "still exists")]


async def test_waiting_ends_when_exactly_the_wanted_objects_are_ready() -> None:
    following = ReadinessWatch("ab", lambda name: None)
    progress: list[int] = []

    async def changes() -> AsyncIterator[Sequence[Change]]:
        for name in "axb":
            yield [change(True, name)]
            await asyncio.sleep(0)
            assert not waiting.done()
        yield [change(False, "x")]
        await asyncio.sleep(0)
        assert not waiting.done(), "more may be to come"
        yield []

    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(following.complete(progress.append))
        tasks.create_task(following.follow(changes()))

    assert sum(progress) == 2


async def test_laggards_are_in_the_order_of_their_names() -> None:
    following = ReadinessWatch(["n2", "n0", "n1"], lambda name: None)
    await following.follow(batches((True, "n1:is Pending")))

    assert [f"{late.name} {late.lacks}" for late in following.laggards()] == [
        "n0 does not exist", "n1 is Pending", "n2 does not exist",
    ]  # fmt: skip


def pod(cluster: MemoryCluster, name: str, phase: str) -> dict[str, Any]:
    body = cluster.put("Pod", name, namespace="default", labels={LABEL: "pod"})
    body["status"] = {"phase": phase}
    return body


def stragglers_of(cluster: MemoryCluster) -> Stragglers:
    """Wait for the pods that are there now."""

    async def names_like(namespace: str | None, prefix: str) -> list[str]:
        assert namespace == "default"
        return [name for name in cluster.names("Pod") if name.startswith(prefix)]

    return Stragglers(cluster, "default", members_of("pod"), cluster.names("Pod"), names_like)


def test_pods_are_waited_for_until_the_last_one_runs() -> None:
    cluster = MemoryCluster()
    late = [pod(cluster, f"pod-{number}", "Pending") for number in range(3)]
    pod(cluster, "done", "Succeeded")
    reports: list[int] = []

    def report(more: int) -> None:
        reports.append(more)
        if late:
            late.pop()["status"]["phase"] = "Running"

    stragglers = stragglers_of(cluster)
    virtual_time.run(stragglers.complete(report))

    assert reports == [1, 1, 1, 1]
    assert stragglers.laggards() == []


@dataclass
class BusyCluster(MemoryCluster):
    """A cluster that gives no answer to the first questions for late pods."""

    unanswered: int = 0

    async def late_pods(self, namespace: str | None, selector: str) -> AsyncIterator[Verdict]:
        if self.unanswered:
            self.unanswered -= 1
            raise ApiError("no answer within 30 s", status=0)
        async for verdict in super().late_pods(namespace, selector):
            yield verdict


def test_a_server_that_is_too_busy_to_answer_is_asked_again() -> None:
    cluster = BusyCluster(unanswered=3)
    pod(cluster, "pod-0", "Running")
    reports: list[int] = []

    virtual_time.run(stragglers_of(cluster).complete(reports.append))

    assert (reports, cluster.unanswered) == ([1], 0)


def test_a_server_that_never_answers_ends_the_wait() -> None:
    cluster = BusyCluster(unanswered=99)
    pod(cluster, "pod-0", "Running")

    with pytest.raises(ApiError, match="no answer"):
        virtual_time.run(stragglers_of(cluster).complete(lambda _: None))


def test_those_that_do_not_run_are_named_with_what_they_lack() -> None:
    cluster = MemoryCluster()
    for number in range(12):
        pod(cluster, f"pod-{number:02d}", "Pending")
    stragglers = stragglers_of(cluster)

    def report(more: int) -> None:
        if more == 0:
            for body in cluster.objects.values():
                body["status"]["phase"] = "Running"

    seen = []

    def look(more: int) -> None:
        seen.append(stragglers.laggards())
        report(more)

    virtual_time.run(stragglers.complete(look))

    assert [late.name for late in seen[0]] == [f"pod-{number:02d}" for number in range(12)]
    assert {late.lacks for late in seen[0]} == {"is Pending"}


def test_pods_that_have_vanished_are_named_and_waited_for() -> None:
    cluster = MemoryCluster()
    for number in range(3):
        pod(cluster, f"pod-{number}", "Running")
    pod(cluster, "podium", "Running")
    stragglers = stragglers_of(cluster)
    cluster.remove("Pod", "default", "pod-1")
    reports, seen = [], []

    def report(more: int) -> None:
        reports.append(more)
        seen.append(stragglers.laggards())
        if len(reports) == 2:
            pod(cluster, "pod-1", "Running")

    virtual_time.run(stragglers.complete(report))

    assert reports == [3, 0, 1]
    assert seen[0] == [Verdict("pod-1", "does not exist")]


async def test_finalizers_are_named_that_keep_what_is_not_wanted() -> None:
    following = ReadinessWatch("", lambda _: None)
    going = Verdict("x", "is being deleted", held_by=("a/b", "c/d"))

    async def changes() -> AsyncIterator[Sequence[Change]]:
        yield [Change(True, going)]

    await following.follow(changes())

    assert following.laggards() == [
        Verdict("x", "still exists until the finalizers 'a/b', 'c/d' are removed")
    ]
