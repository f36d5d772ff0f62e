"""The clock of a run."""

import time
from collections.abc import Callable
from datetime import UTC, datetime


class RunClock:
    """The time since a record began; the clock of the wall is looked at once, in the same moment."""

    def __init__(self, wall: Callable[[], float]) -> None:
        self.start = time.monotonic_ns()
        self.wall = datetime.fromtimestamp(wall(), UTC)

    def __call__(self) -> int:
        return time.monotonic_ns() - self.start
