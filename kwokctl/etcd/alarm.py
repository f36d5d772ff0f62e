"""One timer for many deadlines, because a timer for each would cost more."""

import asyncio
from collections.abc import Callable


class Alarm:
    """Rings at the earliest deadline that it was told of, perhaps in vain: calls end before theirs.

    Who is rung tells it of the deadlines that are left.
    """

    __slots__ = ("_handle", "_loop", "_ring", "_when")

    def __init__(self, loop: asyncio.AbstractEventLoop, ring: Callable[[], None]) -> None:
        """Be silent until told of a deadline."""
        self._loop = loop
        self._ring = ring
        self._when = float("inf")
        self._handle: asyncio.TimerHandle | None = None

    def by(self, deadline: float) -> None:
        """Ring at this time of the loop's clock, unless it does so earlier."""
        if deadline < self._when:
            self.cancel()
            self._when = deadline
            self._handle = self._loop.call_at(deadline, self._go_off)

    def cancel(self) -> None:
        """Forget all deadlines."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
        self._when = float("inf")

    def _go_off(self) -> None:
        self.cancel()
        self._ring()
