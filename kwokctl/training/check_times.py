"""The times at which the pods of a gang ran a check, and were in it together. Pure."""

from collections.abc import Iterable
from typing import NamedTuple


class CheckTime(NamedTuple):
    """The time of one run of a check, as POSIX time stamps."""

    start: float
    end: float
    """Infinite for a run that has not ended, or has succeeded: its result holds for all that come later."""


class Together(NamedTuple):
    """The pods that were in a check at the same time."""

    most: int
    """The largest number of them."""
    since: float | None
    """The first time at which as many as were asked for were there; None if they never were."""


def together(runs: Iterable[CheckTime], size: int, after: float) -> Together:
    """Find out when `size` runs were under way at the same time, at `after` or later."""
    late = [each for each in runs if each.end > after]
    changes = [(max(each.start, after), 1) for each in late] + [(each.end, -1) for each in late]
    there = most = 0
    since = None
    for moment, change in sorted(changes):  # what ends at a moment is not there any more
        there += change
        most = max(most, there)
        if since is None and 0 < size <= there:
            since = moment
    return Together(most, since)
