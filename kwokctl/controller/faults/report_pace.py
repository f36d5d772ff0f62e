"""Limits how often Faults are reported: one report of each in a second, and five of all.

Of those that wait, the Fault that has asked last is reported first: a person waits for the one that was made last.
"""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from kwokctl.controller.scheduling.delay_queue import DelayQueue

OF_ONE, OF_ALL = 1.0, 0.2
"""Seconds between two reports of one Fault, and of any."""
_Asker = TypeVar("_Asker", bound=Hashable)


class ReportPace(Generic[_Asker]):
    """The reports that may be made now, and those that have to wait."""

    def __init__(self, queue: DelayQueue, call: Callable[[_Asker], None]) -> None:
        """Call `call` with an asker that has had to wait, as soon as it may ask again; `queue` has the clock."""
        self._queue = queue
        self._call = call
        self._next = float("-inf")
        self._last: dict[_Asker, float] = {}
        self._waiting: dict[_Asker, None] = {}

    def __len__(self) -> int:
        """Count those that wait."""
        return len(self._waiting)

    def may(self, asker: _Asker) -> bool:
        """Return whether a report may be made now, and count it; if not, it is called when it may."""
        now = self._queue.now()
        if now >= self._next and now >= self._last.get(asker, float("-inf")) + OF_ONE:
            self._waiting.pop(asker, None)
            self._last[asker] = now
            self._next = now + OF_ALL
            return True
        if asker not in self._waiting:
            self._waiting[asker] = None
        if self not in self._queue:
            self._queue.put(self, max(self._next - now, 0.0) or OF_ALL)
        return False

    def since(self, asker: _Asker) -> float:
        """Return the seconds since the last report of one; infinitely many without one."""
        return self._queue.now() - self._last.get(asker, float("-inf"))

    def forget(self, asker: _Asker) -> None:
        """Note that a Fault is gone."""
        self._last.pop(asker, None)
        self._waiting.pop(asker, None)

    def on_due(self) -> None:
        """Call the one that has asked last and may report."""
        now = self._queue.now()
        ready = (each for each in reversed(self._waiting) if self.since(each) >= OF_ONE)
        if (chosen := next(ready, None)) is not None:
            del self._waiting[chosen]
            self._call(chosen)
        if self._waiting:
            self._queue.put(self, max(self._next - now, OF_ALL))

    __hash__ = object.__hash__
