"""Levels over time, such as the number of pods that wait, computed from their changes. Pure."""

from collections.abc import Iterable, Iterator
from math import inf

from kwokctl.measure.figures.values import Levels, Missing, Value
from kwokctl.measure.record.run_clock import SECOND

MOST_POINTS = 600
"""Of the means in equal steps."""
_STEPS = [step * 10**power * SECOND for power in range(7) for step in (1, 2, 5)]


class LevelMeter:
    """Takes the changes of a level between two times, in their order.

    What it was before the beginning it is then, too; without such a change it is known from the first one
    on. Of changes at one time, such as all that was received in one piece, only the last counts.
    """

    def __init__(self, begin: int, end: int) -> None:
        self._begin = begin
        self._end = end
        self._first = 0
        """The time from which it is known."""
        self._since = -1
        """The time of the last change; -1 before the first."""
        self._level = 0.0
        self._step = 1
        self._sums: list[float] = []
        """For each step the level, multiplied by how long it held."""
        self._initial = 0.0
        self._least = inf
        self._most = -inf

    def change(self, time: int, level: float) -> None:
        """Note what it is from now on."""
        time = max(time, self._begin)
        if time > self._end:
            return
        if self._since < 0:
            self._first = time
            self._step = next(step for step in _STEPS if step * MOST_POINTS >= self._span)
            self._sums = [0.0] * -(-self._span // self._step)
        elif time > self._since:
            self._hold(time)
        if time == self._first:
            self._initial = level
        self._since, self._level = time, level

    def value(self, what: str = "it was never seen") -> Value:
        """Return the figure; `what` says why there is none."""
        if self._since < 0:
            return Missing(what)
        self._hold(self._first + self._span)
        return Levels(
            mean=sum(self._sums) / self._span,
            min=self._least,
            max=self._most,
            first=self._initial,
            last=self._level,
            start=(self._first - self._begin) / SECOND,
            step=self._step / SECOND,
            values=tuple(self._points()),
        )

    @property
    def _span(self) -> int:
        return max(self._end - self._first, 1)

    def _hold(self, until: int) -> None:
        level, time = self._level, self._since
        self._least, self._most = min(self._least, level), max(self._most, level)
        while time < until:
            place = (time - self._first) // self._step
            stop = min(until, self._first + (place + 1) * self._step)
            self._sums[place] += level * (stop - time)
            time = stop

    def _points(self) -> Iterator[float]:
        for place, total in enumerate(self._sums):
            width = min(self._step, self._span - place * self._step)
            yield float(f"{total / width:.6g}")


def levels(
    changes: Iterable[tuple[int, float]], begin: int, end: int, *, what: str = "it was never seen"
) -> Value:
    """Return a level between two times; `changes` are the times at which it changed, and to what."""
    meter = LevelMeter(begin, end)
    for time, level in sorted(changes, key=lambda change: change[0]):
        meter.change(time, level)
    return meter.value(what)


def after_steps(steps: Iterable[tuple[int, float]]) -> Iterator[tuple[int, float]]:
    """Yield the changes of a level that is 0 at first, by the times at which it rises or falls, and by how much."""
    level = 0.0
    yield 0, level
    for time, step in sorted(steps):
        level += step
        yield time, level
