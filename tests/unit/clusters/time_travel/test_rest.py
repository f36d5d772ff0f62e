"""A cluster has come to rest when nothing was written for a while that a rewind would put back."""

import asyncio
from pathlib import Path

import pytest

from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.clusters.time_travel.rest import until_at_rest
from kwokctl.errors import TimedOutError
from tests.support import virtual_time
from tests.support.fake_runtime import FakeRuntime
from tests.support.options import cluster_options
from tests.support.ranged_etcd import RangedEtcd
from tests.support.reaching import reach_of
from tests.support.saved_cluster import home_with

NAME = cluster_name("dev")
POD, EVENT = b"/registry/pods/default/a", b"/registry/events/default/a"


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
