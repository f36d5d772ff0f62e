import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from kwokctl.clusters.scaling.context import ScaleContext, Supervision
from kwokctl.clusters.scaling.rate import FLOOR, PATIENCE, STEADY, Pace, held_back
from kwokctl.config.data_path import Choice
from kwokctl.kube.collections.server_metrics import NAME, EndedWatches
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import PODS, Resource
from kwokctl.kube.transport.pool import Pool, Response
from kwokctl.progress import Silent
from tests.support import virtual_time
from tests.support.listener import ToldStep
from tests.support.memory_cluster import MemoryCluster
from tests.support.never_direct import NeverDirect


def on_virtual_time(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    """Make a test of a coroutine function that needs no time to sleep."""
    return lambda: virtual_time.run(test())


async def turns(pace: Pace, count: int) -> list[float]:
    """Take turns one by one and return when each came."""
    loop = asyncio.get_running_loop()
    start = loop.time()
    came = []
    for _ in range(count):
        await pace.turn()
        came.append(loop.time() - start)
    return came


@on_virtual_time
async def test_the_window_is_free_and_then_the_floor_is_kept() -> None:
    came = await turns(Pace(window=3), 6)

    assert came[:3] == [0, 0, 0]
    assert came[3:] == pytest.approx([1 / FLOOR, 2 / FLOOR, 3 / FLOOR])


@on_virtual_time
async def test_an_object_that_becomes_ready_gives_a_turn_at_once() -> None:
    pace = Pace(window=1)
    await pace.turn()
    waiting = asyncio.ensure_future(turns(pace, 1))
    await asyncio.sleep(0)

    pace.settle()

    assert await waiting == [0]


@on_virtual_time
async def test_turns_are_given_in_the_order_of_requests() -> None:
    pace = Pace(window=1)
    await pace.turn()
    order: list[int] = []

    async def ask(number: int) -> None:
        await pace.turn()
        order.append(number)

    async with asyncio.TaskGroup() as asking:
        for number in range(5):
            asking.create_task(ask(number))

    assert order == [0, 1, 2, 3, 4]


@on_virtual_time
async def test_writers_do_not_wait_for_ever_when_nothing_becomes_ready() -> None:
    pace = Pace(window=1)

    came = await turns(pace, 1000)

    assert came[-1] == pytest.approx(PATIENCE, abs=2 / FLOOR)


@on_virtual_time
async def test_waiting_begins_again_when_something_becomes_ready() -> None:
    pace = Pace(window=1)
    await turns(pace, 500)

    pace.settle()

    assert (await turns(pace, 2))[1] == pytest.approx(2 / FLOOR, abs=1 / FLOOR)


@on_virtual_time
async def test_a_turn_given_up_is_for_the_next() -> None:
    pace = Pace(window=1)
    await pace.turn()
    given_up = asyncio.ensure_future(pace.turn())
    await asyncio.sleep(0)
    given_up.cancel()
    waiting = asyncio.ensure_future(turns(pace, 1))
    await asyncio.sleep(0)

    pace.settle()

    assert await waiting == [0]


@on_virtual_time
async def test_objects_that_become_ready_steadily_set_the_pace() -> None:
    pace = Pace(window=1)
    rate = 2 * STEADY
    given = 0

    async def take() -> None:
        nonlocal given
        while True:
            await pace.turn()
            given += 1

    async def settle() -> None:
        for _ in range(10 * rate):
            await asyncio.sleep(1 / rate)
            pace.settle()

    async with asyncio.TaskGroup() as tasks:
        taking = [tasks.create_task(take()) for _ in range(32)]
        await settle()
        for task in taking:
            task.cancel()

    assert given == pytest.approx(10 * rate, rel=0.2)


class Lagging(NeverDirect):
    """A data plane whose writes wait for watches."""

    behind = 0.0

    def lag(self, resource: Resource) -> float:
        return self.behind


class Figures(Pool):
    """An API server that tells how many watches it has ended."""

    ended = 5

    async def request(self, method: str, path: str, **_: Any) -> Response:
        assert (method, path) == ("GET", "/metrics")
        text = f'\n{NAME}{{resource="pods"}} {self.ended}\n'
        return Response(200, text.encode(), [])


async def no_names(namespace: str | None, prefix: str) -> set[str]:
    return set()


def test_a_writer_that_is_held_back_says_by_what_until_it_is_no_more() -> None:
    said = []

    async def main() -> None:
        figures, cluster = Figures(Access(server="http://127.0.0.1:1")), MemoryCluster()
        direct = Lagging()
        ended = EndedWatches(figures, every=0, clock=lambda: 0.0)
        context = ScaleContext(
            reader=cluster,
            plane=cluster,
            progress=Silent(),
            wall=lambda: 0.0,
            choice=Choice(path="etcd", why="asked for"),
            supervision=Supervision(direct=direct, pool=figures, ended=ended, pod_names=no_names),
        )
        step = ToldStep("Creating pods", None, "")
        async with held_back(context, PODS, step):
            for more, behind in ((0, 1.24), (1, 2.0), (1, 3.0), (0, 0.1)):
                figures.ended += more
                direct.behind = behind
                await asyncio.sleep(1.2)
                said.append(step.said[-1])

    virtual_time.run(main())

    assert said == [
        "slowed down: watches are 1.2 s behind",
        "slowed down: watches are 2.0 s behind, one was ended",
        "slowed down: watches are 3.0 s behind, 2 were ended",
        "",
    ]
