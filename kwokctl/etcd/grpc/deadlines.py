"""One timer for many deadlines, because a timer for each would cost more."""

import asyncio
from collections.abc import Callable


class Deadlines:
    """Calls back at the earliest deadline, perhaps in vain: most calls end long before theirs.

    Who is called back adds the deadlines that are left.
    """

    __slots__ = ("_earliest", "_loop", "_passed", "_timer")

    def __init__(self, loop: asyncio.AbstractEventLoop, passed: Callable[[], None]) -> None:
        """Wait for the first deadline."""
        self._loop = loop
        self._passed = passed
        self._earliest = float("inf")
        self._timer: asyncio.TimerHandle | None = None

    def add(self, deadline: float) -> None:
        """Call back at this time of the loop's clock, unless an earlier one is waited for."""
        if deadline < self._earliest:
            self.clear()
            self._earliest = deadline
            self._timer = self._loop.call_at(deadline, self._on_time)

    def clear(self) -> None:
        """Forget all deadlines."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._earliest = float("inf")

    def _on_time(self) -> None:
        self.clear()
        self._passed()
