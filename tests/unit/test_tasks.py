import asyncio
from collections.abc import Iterator

import pytest

from kwokctl.errors import ConflictError
from kwokctl.tasks import beside, both, first_failure, for_each


async def test_every_item_is_worked_on_a_bounded_number_at_a_time() -> None:
    done: list[int] = []
    under_way = most = 0

    async def work(item: int) -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        under_way -= 1
        done.append(item)

    await for_each(range(100), work, at_once=7)

    assert sorted(done) == list(range(100))
    assert most == 7


async def test_items_are_taken_in_their_order() -> None:
    taken: list[int] = []

    async def work(item: int) -> None:
        taken.append(item)
        await asyncio.sleep(0)

    await for_each(range(50), work, at_once=4)

    assert taken == list(range(50))


async def test_after_a_failure_the_work_under_way_is_finished_and_nothing_else_begun() -> None:
    started: list[int] = []
    finished: list[int] = []

    async def work(item: int) -> None:
        started.append(item)
        await asyncio.sleep(0)
        if item == 1:
            raise ConflictError("taken")
        await asyncio.sleep(0.001)
        finished.append(item)

    with pytest.raises(ConflictError, match="taken"):
        await for_each(range(100), work, at_once=3)

    assert started == [0, 1, 2]
    assert finished == [0, 2]


async def test_an_error_of_the_iterator_is_a_failure_like_any_other() -> None:
    finished: list[int] = []

    def items() -> Iterator[int]:
        yield 0
        raise ConflictError("no more")

    async def work(item: int) -> None:
        await asyncio.sleep(0.001)
        finished.append(item)

    with pytest.raises(ConflictError, match="no more"):
        await for_each(items(), work, at_once=3)

    assert finished == [0]


async def test_what_fails_beside_the_work_ends_it() -> None:
    async def failing() -> None:
        raise ConflictError("beside")

    with pytest.raises(ConflictError, match="beside"):
        async with beside(failing()):
            await asyncio.Event().wait()


async def test_what_is_done_beside_ends_with_the_work() -> None:
    ended: list[bool] = []

    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    async with beside(forever()):
        await asyncio.sleep(0)

    assert ended == [True]


async def test_being_cancelled_cancels_the_work() -> None:
    cancelled: list[int] = []

    async def work(item: int) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.append(item)

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await for_each(range(5), work, at_once=2)

    assert sorted(cancelled) == [0, 1]


def test_the_first_failure_is_found_at_any_depth() -> None:
    failure = ConflictError("deep")
    group = BaseExceptionGroup("a", [BaseExceptionGroup("b", [failure]), ValueError("late")])

    assert first_failure(group) is failure


async def test_of_two_things_each_comes_to_its_end_though_the_other_fails() -> None:
    done: list[bool] = []

    async def fail() -> None:
        raise ConflictError("no")

    async def work() -> int:
        for _ in range(9):
            await asyncio.sleep(0)
        done.append(True)
        return 1

    assert await both(work(), work()) == (1, 1)
    for one, other in ((fail(), work()), (work(), fail())):
        with pytest.raises(ConflictError, match="no"):
            await both(one, other)
    assert len(done) == 4
