"""The Events of a new kube-controller-manager are waited for, one for each node."""

import asyncio
from pathlib import Path

import pytest

from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.measure.repeating.registered_nodes import until_registered
from tests.support import virtual_time
from tests.support.fake_runtime import FakeRuntime
from tests.support.options import cluster_options
from tests.support.ranged_etcd import RangedEtcd
from tests.support.reaching import reach_of
from tests.support.saved_cluster import home_with

NAME = cluster_name("dev")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return home_with(tmp_path, NAME, cluster_options(), FakeRuntime())


@pytest.mark.parametrize(
    ("nodes", "written", "seconds", "any_came"),
    [
        ((), (), 0, False),
        (("a", "b"), (("a", "RegisteredNode"), ("b", "RegisteredNode")), 2, True),
        (("a", "a.b"), (("a", "RegisteredNode"), ("a.b", "RegisteredNode")), 2, True),
        (("a", "b"), (("a", "RegisteredNode"), ("b", "NodeReady")), 1 + 5, True),
        (("a", "b"), (("a", "NodeReady"),), 30, False),
    ],
    ids=["no nodes", "all", "a dot in a name", "one was dropped", "none"],
)
def test_the_wait_ends_with_the_last_node_or_when_no_more_come(
    home: Home,
    nodes: tuple[str, ...],
    written: tuple[tuple[str, str], ...],
    seconds: float,
    *,
    any_came: bool,
) -> None:
    async def waiting() -> tuple[bool, float]:
        kv, clock = RangedEtcd(), asyncio.get_running_loop().time
        for node in nodes:
            kv.put(f"/registry/minions/{node}".encode(), b"1")
            kv.put(f"/registry/events/default/{node}.1".encode(), b"RegisteredNode")
        since, began = kv.revision, clock()

        async def write() -> None:
            for node, reason in written:
                await asyncio.sleep(1)
                kv.put(f"/registry/events/default/{node}.2".encode(), reason.encode())

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(write())
            came = await until_registered(reach_of(home, NAME, kv), since)
            took = clock() - began
        return came, took

    came, took = virtual_time.run(waiting())

    assert came is any_came
    assert took == pytest.approx(seconds, abs=0.5)
