import asyncio

import pytest

from kwokctl.kubelet.access.timed_cache import TimedCache


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


async def answer(value: bool, asked: list[bool]) -> bool:
    asked.append(value)
    await asyncio.sleep(0)
    return value


async def test_a_value_counts_as_long_as_it_lasts() -> None:
    clock, asked = Clock(), list[bool]()
    cache = TimedCache[str, bool](clock, lambda value: 300 if value else 30)

    for now, value in ((0, True), (299, False), (300, False), (329, True), (330, True)):
        clock.now = now
        await cache.get("k", lambda value=value: answer(value, asked))  # type: ignore[misc]  # bound here

    assert asked == [True, False, True]


async def test_many_that_want_the_same_ask_once() -> None:
    asked: list[bool] = []
    cache = TimedCache[str, bool](Clock(), lambda _: 60)

    found = await asyncio.gather(*(cache.get("k", lambda: answer(True, asked)) for _ in range(50)))

    assert found == [True] * 50
    assert asked == [True]


async def test_the_oldest_goes_where_there_are_too_many() -> None:
    asked: list[bool] = []
    cache = TimedCache[int, bool](Clock(), lambda _: 60, most=10)

    for number in range(25):
        await cache.get(number, lambda: answer(True, asked))
    await cache.get(24, lambda: answer(False, asked))

    assert len(cache) == 10
    assert len(asked) == 25


async def test_a_question_that_failed_is_asked_again() -> None:
    async def fail() -> bool:
        raise ConnectionError

    cache = TimedCache[str, bool](Clock(), lambda _: 60)

    with pytest.raises(ConnectionError):
        await cache.get("k", fail)
    assert await cache.get("k", lambda: answer(True, []))
