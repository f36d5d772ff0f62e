"""A wait ends after a time in all, or when nothing has moved for long."""

import asyncio

import pytest

from kwokctl.waits import Standstill, after, bounded
from tests.support import virtual_time


async def moving(seconds: float | None, *, every: float, times: int) -> float:
    """Do work whose parts are done one by one; return how long that has taken."""
    clock = asyncio.get_running_loop().time
    began = clock()
    async with bounded(seconds) as moved:
        for _ in range(times):
            await asyncio.sleep(every)
            moved()
    return clock() - began


def test_work_that_goes_on_may_take_as_long_as_it_does() -> None:
    assert virtual_time.run(moving(Standstill(300), every=299, times=40)) == 40 * 299


def test_work_that_stands_still_is_given_up() -> None:
    with pytest.raises(TimeoutError):
        virtual_time.run(moving(Standstill(300), every=301, times=2))


def test_a_time_in_all_ends_also_what_goes_on() -> None:
    with pytest.raises(TimeoutError):
        virtual_time.run(moving(300, every=299, times=2))


@pytest.mark.parametrize("seconds", [None, 0.0])
def test_without_a_limit_it_is_waited_for_ever(seconds: float | None) -> None:
    assert virtual_time.run(moving(seconds, every=1e6, times=2)) == 2e6


async def test_what_moves_once_it_is_too_late_is_not_an_error_of_its_own() -> None:
    async def late() -> None:
        async with bounded(Standstill(0.001)) as moved:
            try:
                await asyncio.Event().wait()
            finally:
                moved()

    with pytest.raises(TimeoutError):
        await late()


def test_both_are_told_from_each_other() -> None:
    assert after(90.0) == "after 90 s"
    assert after(Standstill(300)) == "after 300 s without progress"
