"""A cluster has come to rest when nothing was written for a while that a rewind would put back."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.clusters.time_travel.rest import until_at_rest
from kwokctl.dataplane.objects.stored_values import value_with
from kwokctl.errors import TimedOutError
from kwokctl.etcd.kv.kv import KeyPage, KeyValue
from tests.support import virtual_time
from tests.support.fake_runtime import FakeRuntime
from tests.support.options import cluster_options
from tests.support.ranged_etcd import RangedEtcd
from tests.support.reaching import reach_of
from tests.support.saved_cluster import home_with

NAME = cluster_name("dev")
POD, EVENT = b"/registry/pods/default/a", b"/registry/events/default/a"
NODE = b"/registry/minions/n"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return home_with(tmp_path, NAME, cluster_options(), FakeRuntime())


async def _write(kv: RangedEtcd, key: bytes, times: int) -> None:
    for _ in range(times):
        await asyncio.sleep(0.4)
        kv.put(key, b"1")


@pytest.mark.parametrize(("key", "rests_after"), [(POD, 5.0), (EVENT, 1.0)])
def test_the_wait_ends_when_nothing_was_written_for_so_long(
    home: Home, key: bytes, rests_after: float
) -> None:
    async def waiting() -> float:
        kv, clock = RangedEtcd(), asyncio.get_running_loop().time
        began = clock()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_write(kv, key, 10))
            await until_at_rest(reach_of(home, NAME, kv), seconds=1.0, within=60)
            return clock() - began

    assert virtual_time.run(waiting()) == pytest.approx(rests_after, abs=0.6)


def test_what_keeps_being_written_is_named(home: Home) -> None:
    async def waiting() -> None:
        kv = RangedEtcd()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_write(kv, POD, 20))
            with pytest.raises(TimedOutError, match="pods/default/a is written"):
                await until_at_rest(reach_of(home, NAME, kv), seconds=1.0, within=5)

    virtual_time.run(waiting())


def stored_node(minute: int, **status: str) -> bytes:
    """Return a node whose kubelet has shown at a minute that it is there."""
    ready = {
        "type": "Ready",
        "status": "True",
        "lastHeartbeatTime": f"2026-01-02T03:{minute:02}:00Z",
        **status,
    }
    head = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
    return value_with({**head, "status": {"conditions": [ready]}})


class RememberingEtcd(RangedEtcd):
    """Also answers for a key as it was at a revision."""

    def __init__(self) -> None:
        super().__init__()
        self.former: list[KeyValue] = []

    async def page(self, start: bytes, end: bytes, **wanted: Any) -> KeyPage:
        if end or not wanted.get("revision"):
            return await super().page(start, end, **wanted)
        there = [each for each in self.former if each.mod_revision <= wanted["revision"]]
        return KeyPage(there[-1:], False, self.revision)

    def keep(self, value: bytes) -> None:
        """Write the node."""
        self.put(NODE, value)
        self.former.append(self.stored[NODE])


BEATS = [stored_node(minute) for minute in range(1, 11)]


@pytest.mark.parametrize(
    ("later", "rests_after"),
    [(BEATS, 5.0), ([*BEATS[:-1], stored_node(10, status="False")], 9.0)],
    ids=["only heartbeats", "at last not Ready"],
)
def test_heartbeats_of_nodes_never_end_and_are_not_waited_for(
    home: Home, later: list[bytes], rests_after: float
) -> None:
    async def waiting() -> float:
        kv, clock = RememberingEtcd(), asyncio.get_running_loop().time
        kv.keep(stored_node(0))
        began = clock()

        async def write() -> None:
            for value in later:
                await asyncio.sleep(0.4)
                kv.keep(value)

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(write())
            await until_at_rest(reach_of(home, NAME, kv), seconds=4.0, within=60)
            return clock() - began

    assert virtual_time.run(waiting()) == pytest.approx(rests_after, abs=1.1)


def test_other_ranges_are_waited_for_if_they_are_named(home: Home) -> None:
    async def waiting() -> float:
        kv, clock = RangedEtcd(), asyncio.get_running_loop().time
        began = clock()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_write(kv, EVENT, 10))
            reach = reach_of(home, NAME, kv)
            await until_at_rest(reach, seconds=1.0, within=60, also=(reach.scope.events,))
            return clock() - began

    assert virtual_time.run(waiting()) == pytest.approx(5.0, abs=0.6)
