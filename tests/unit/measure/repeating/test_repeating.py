"""The order of what is done for repeated runs, and their ends."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kwokctl.errors import TimedOutError
from kwokctl.measure.histories.history import History
from kwokctl.measure.judging.verdict import INTERRUPTED
from kwokctl.measure.record.record_lines import Lines, RunMoment
from kwokctl.measure.repeating.repeat import repeated
from kwokctl.measure.running.request import MeasureRequest
from kwokctl.progress import Silent
from tests.support.measured import history

RUNS = [MeasureRequest(record=Path(f"{number}")) for number in (1, 2, 3)]


class Rehearsal:
    """Writes down what is done, and does what a test wants in the place of some of it."""

    def __init__(self, *, waits_at: str = "", fails_at: str = "", interrupted: str = "") -> None:
        self.done: list[str] = []
        self.waits = asyncio.Event()
        """Whether what never ends has begun."""
        self._waits_at = waits_at
        self._fails_at = fails_at
        self._interrupted = interrupted

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Note the beginning and the end."""
        self.done.append("mark")
        try:
            yield
        finally:
            self.done.append("leave")

    async def again(self) -> None:
        """Note that the state is made."""
        self.done.append(f"again {self._number()}")
        await self._step()

    async def measure(self, request: MeasureRequest) -> History:
        """Note that a run is measured."""
        self.done.append(f"run {request.record}")
        await self._step()
        lines: Sequence[Lines] = (
            [RunMoment(5, INTERRUPTED)] if self._interrupted == self.done[-1] else []
        )
        return history(lines)

    def take(self, request: MeasureRequest, _history: History) -> None:
        """Note that the outcome is taken."""
        self.done.append(f"take {request.record}")

    def remarks(self) -> list[str]:
        """Return one."""
        return ["remark"]

    def _number(self) -> int:
        return sum(each.startswith("again") for each in self.done) + 1

    async def _step(self) -> None:
        if self.done[-1] == self._fails_at:
            raise TimedOutError("it is not idle")
        if self.done[-1] == self._waits_at:
            self.waits.set()
            await asyncio.Event().wait()


def started(rehearsal: Rehearsal) -> asyncio.Task[list[str]]:
    return asyncio.ensure_future(
        repeated(rehearsal.measure, RUNS, rehearsal, rehearsal.take, Silent())
    )


async def test_the_state_is_made_before_each_run_and_left_in_the_end() -> None:
    rehearsal = Rehearsal()

    assert await started(rehearsal) == ["remark"]
    assert rehearsal.done == [
        "mark",
        *(f"{what} {number}" for number in (1, 2, 3) for what in ("again", "run", "take")),
        "leave",
    ]


async def test_no_run_comes_after_one_that_was_interrupted() -> None:
    rehearsal = Rehearsal(interrupted="run 1")

    await started(rehearsal)

    assert rehearsal.done == ["mark", "again 1", "run 1", "take 1", "leave"]


async def test_an_interrupt_between_two_runs_ends_them_and_the_first_is_reported() -> None:
    rehearsal = Rehearsal(waits_at="again 2")
    task = started(rehearsal)
    await rehearsal.waits.wait()

    task.cancel()

    assert await task == ["remark"]
    assert rehearsal.done == ["mark", "again 1", "run 1", "take 1", "again 2", "leave"]


async def test_an_interrupt_before_the_first_run_has_ended_leaves_nothing_to_report() -> None:
    rehearsal = Rehearsal(waits_at="again 1")
    task = started(rehearsal)
    await rehearsal.waits.wait()

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert rehearsal.done == ["mark", "again 1", "leave"]


async def test_a_state_that_cannot_be_made_is_an_error_and_is_left_nevertheless() -> None:
    rehearsal = Rehearsal(fails_at="again 2")

    with pytest.raises(TimedOutError, match="it is not idle"):
        await started(rehearsal)

    assert rehearsal.done[-2:] == ["again 2", "leave"]
