import asyncio
import random
from collections.abc import Sequence
from itertools import count

import pytest

from kwokctl.dataplane.pacing import (
    FIRST_UNSEEN,
    MOST_UNSEEN,
    MOST_UNSHOWN,
    PATIENCE,
    Window,
    write_until_shown,
)
from tests.support import virtual_time


async def write(window: Window, number: int, *, delay: float, at_once: int = 64) -> float:
    """Write so often, each seen `delay` seconds later; returns the seconds that it took."""
    loop = asyncio.get_running_loop()
    start, revisions = loop.time(), count(window.latest + 1)

    async def writer() -> None:
        for _ in range(number // at_once):
            await window.turn()
            await asyncio.sleep(0.001)
            revision = next(revisions)
            window.written(revision)
            loop.call_later(delay, window.seen, revision)

    await asyncio.gather(*(writer() for _ in range(at_once)))
    return loop.time() - start


def test_a_writer_starts_gently() -> None:
    async def story() -> int:
        window = Window()
        turns = [asyncio.ensure_future(window.turn()) for _ in range(1000)]
        await asyncio.sleep(PATIENCE / 2)
        given = sum(turn.done() for turn in turns)
        for turn in turns:
            turn.cancel()
        return given

    assert virtual_time.run(story()) == FIRST_UNSEEN


def test_it_writes_more_while_the_watch_follows_soon() -> None:
    async def story() -> int:
        window = Window()
        await write(window, 6400, delay=0.02)
        return window.size

    assert virtual_time.run(story()) > 20 * FIRST_UNSEEN


def test_it_writes_less_when_the_watch_falls_behind() -> None:
    async def story() -> tuple[int, int]:
        window = Window()
        await write(window, 6400, delay=0.02)
        best = window.size
        await write(window, 6400, delay=2.0)
        return best, window.size

    best, late = virtual_time.run(story())

    assert FIRST_UNSEEN <= late < best / 2


def test_never_more_is_unseen_than_a_watcher_can_queue() -> None:
    async def story() -> list[int]:
        window = Window(first=MOST_UNSEEN)
        unseen = []
        task = asyncio.ensure_future(write(window, 64_000, delay=0.3, at_once=640))
        while not task.done():
            unseen.append(window.unseen)
            await asyncio.sleep(0.01)
        return unseen

    assert max(virtual_time.run(story())) <= MOST_UNSEEN


def test_a_watch_that_shows_nothing_lets_some_through_all_the_same() -> None:
    async def story() -> float:
        window, loop = Window(), asyncio.get_running_loop()
        for revision in range(1, FIRST_UNSEEN + 1):
            await window.turn()
            window.written(revision)
        start = loop.time()
        await window.turn()
        return loop.time() - start

    assert virtual_time.run(story()) == pytest.approx(PATIENCE, rel=0.2)


def test_a_write_that_the_watch_showed_before_its_answer_is_not_waited_for() -> None:
    async def story() -> int:
        window = Window()
        await window.turn()
        window.seen(7)
        window.written(7)
        return window.unseen

    assert virtual_time.run(story()) == 0


def test_turns_of_writes_that_failed_or_were_given_up_are_free_again() -> None:
    async def story() -> int:
        chance = random.Random(4)
        window = Window()
        for _ in range(50):
            turns = [asyncio.ensure_future(window.turn()) for _ in range(FIRST_UNSEEN + 10)]
            await asyncio.sleep(chance.random() * 0.02)
            for turn in turns:
                if turn.done():
                    window.lost()
                else:
                    turn.cancel()
            await asyncio.gather(*turns, return_exceptions=True)
        return window.unseen

    assert virtual_time.run(story()) == 0


def test_the_watch_is_later_the_longer_a_write_is_unseen() -> None:
    async def story() -> list[float]:
        window = Window()
        await window.turn()
        window.written(7)
        behind = [window.behind]
        await asyncio.sleep(4)
        return [*behind, window.behind]

    assert virtual_time.run(story()) == [0, pytest.approx(4)]


def test_a_delay_of_long_ago_is_not_one_of_now() -> None:
    async def story() -> list[float]:
        window = Window()
        await write(window, 1, delay=3.0, at_once=1)
        await asyncio.sleep(4)
        behind = [window.behind]
        await asyncio.sleep(60)
        return [*behind, window.behind, window.delay]

    assert virtual_time.run(story()) == [pytest.approx(3), 0, pytest.approx(3)]


class SlowApi:
    """Shows what is written after a while, and counts what it has not shown."""

    def __init__(self, *, refused: int = -1) -> None:
        self.written: list[int] = []
        self.shown: list[int] = []
        self.most = 0
        self._refused = refused

    async def write(self, item: int) -> int | None:
        await asyncio.sleep(0.001)
        if item == self._refused:
            return None
        self.written.append(item)
        self.most = max(self.most, len(self.written) - len(self.shown))
        return item

    async def wait_shown(self, written: Sequence[int]) -> None:
        await asyncio.sleep(0.1)
        self.shown += written


@pytest.mark.parametrize("number", [0, 1, MOST_UNSHOWN, 10 * MOST_UNSHOWN + 1])
def test_a_writer_that_asks_has_few_writes_that_are_not_shown(number: int) -> None:
    api = SlowApi()

    virtual_time.run(write_until_shown(range(number), api.write, api.wait_shown))

    assert sorted(api.shown) == list(range(number))
    assert api.most == min(number, MOST_UNSHOWN)


def test_what_is_not_written_is_not_waited_for() -> None:
    api = SlowApi(refused=7)

    virtual_time.run(write_until_shown(range(MOST_UNSHOWN), api.write, api.wait_shown))

    assert sorted(api.shown) == sorted(set(range(MOST_UNSHOWN)) - {7})


def test_after_a_failure_little_more_is_written() -> None:
    api = SlowApi()

    async def refused(_: Sequence[int]) -> None:
        await asyncio.sleep(0.1)
        raise ConnectionError

    with pytest.raises(ConnectionError):
        virtual_time.run(write_until_shown(range(10 * MOST_UNSHOWN), api.write, refused))

    assert len(api.written) <= MOST_UNSHOWN
