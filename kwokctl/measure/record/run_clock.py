"""The clock of a run."""

import time
from collections.abc import Callable
from datetime import UTC, datetime

from kwokctl.expr.duration import parse_time

SECOND = 1_000_000_000
"""Nanoseconds: in these are all times of a record."""
_MICROS, _NANOS_OF_MICRO = 1_000_000, 1000


class RunClock:
    """The time since a record began; the clock of the wall is looked at once, in the same moment."""

    def __init__(self, wall: Callable[[], float]) -> None:
        self.start = time.monotonic_ns()
        self.wall = datetime.fromtimestamp(wall(), UTC)

    def __call__(self) -> int:
        return time.monotonic_ns() - self.start


def wall_nanoseconds(moment: str) -> int:
    """Return a time of day, as RFC 3339 writes it, in nanoseconds since 1970, to the microsecond; 0 for none."""
    return round(parse_time(moment) * _MICROS) * _NANOS_OF_MICRO if moment else 0
