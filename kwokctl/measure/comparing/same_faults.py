"""Finds out whether runs of schedules had the same faults. Pure.

Of equal plans the runs differ in what was suppressed: whose remedy is slow has fewer faults, and looks better.
"""

from collections.abc import Sequence

from kwokctl.measure.histories.history import History

HINT = "a slow remedy must not look better because it was spared: raise the limits of the schedule, or {}"
"""The remedy for runs that are not comparable; the words that are missing leave out what refuses them."""
_UNEQUAL = 0.05
"""The largest difference of the numbers of faults that were not injected, as a share."""


def suppressed_in(history: History) -> int | None:
    """Return the number of faults of schedules that were not injected; None if no schedule was played."""
    schedules = history.incidents.schedules.values()
    return sum(sum(each.suppressed.values()) for each in schedules) if schedules else None


def are_unequal(suppressed: Sequence[int | None]) -> bool:
    """Return whether the numbers of several runs differ by more than `_UNEQUAL`."""
    counts = [each or 0 for each in suppressed]
    return bool(counts) and max(counts) - min(counts) > _UNEQUAL * max(counts)


def in_words(suppressed: Sequence[int | None]) -> str:
    """Return the numbers of several runs."""
    return ", ".join(f"{each or 0:,}" for each in suppressed)
