"""The durations from one time to another of many things, such as Jobs or gangs."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from kwokctl.measure.figures.values import Value, distribution


class KnownTimes(Protocol):
    """The times of one thing, by name; None is what has not happened, or is not known."""

    @property
    def is_lost(self) -> bool:
        """Whether one of them was lost."""
        ...


def spans(all_times: Iterable[KnownTimes], begin: str, end: str, what: str) -> Value:
    """Return the distribution of the durations from one time to another; without any, `what` says why."""
    durations: list[int] = []
    left_out = still_open = 0
    for times in all_times:
        start, at = getattr(times, begin), getattr(times, end)
        if at is None:
            still_open += 1
        elif start is None or times.is_lost:
            left_out += 1
        else:
            durations.append(at - start)
    return distribution(durations, left_out=left_out, still_open=still_open, what=what)


def nth(times: Sequence[int], number: int) -> int | None:
    """Return the time at which a number was reached; `times` is in order."""
    return times[number - 1] if 0 < number <= len(times) else None
