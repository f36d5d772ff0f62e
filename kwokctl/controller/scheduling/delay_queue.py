"""Calls each waiter when it is due, with one timer for all."""

import asyncio
import heapq
from collections.abc import Hashable, Iterator
from math import ceil
from typing import Generic, Protocol, TypeVar

K = TypeVar("K", bound=Hashable)

_SLACK = 64
_STEPS = 64
"""Moments of a second at which long delays end. Thousands that end in a second share these: a timer
and a place in the heap for each would cost more than what is due."""
_LONG = 1.0
"""Seconds from which a delay may end at the next such moment, at most a sixty-fourth later."""


class DueTimes(Generic[K]):
    """One heap for all times at which something is due; a later `put` of a key replaces its time.

    Times are seconds on whatever clock the caller keeps. Keys that are due at the same time share
    one place in the heap and come out in the order in which they were put: thousands of renewals
    that were gathered into one moment cost little more than one.
    """

    __slots__ = ("_due", "_entries", "_heap", "_keys_at")

    def __init__(self) -> None:
        """Begin empty."""
        self._heap: list[float] = []
        self._keys_at: dict[float, list[K]] = {}
        self._due: dict[K, float] = {}
        self._entries = 0
        """Keys in lists, those that wait no longer or for another time included."""

    def __len__(self) -> int:
        """Count the keys that wait."""
        return len(self._due)

    def __contains__(self, key: K) -> bool:
        return key in self._due

    def put(self, key: K, due: float) -> None:
        """Make a key due at a time, which replaces an earlier one."""
        self._due.pop(key, None)
        self._due[key] = due
        self._entries += 1
        keys = self._keys_at.get(due)
        if keys is None:
            self._keys_at[due] = [key]
            heapq.heappush(self._heap, due)
        else:
            keys.append(key)
        if self._entries > 2 * len(self._due) + _SLACK:
            self._rebuild()

    def forget(self, key: K) -> bool:
        """Remove a key; return whether it waited."""
        return self._due.pop(key, None) is not None

    def next_due(self) -> float | None:
        """Return when the first key is due, or None if nothing waits."""
        while self._heap:
            due = self._heap[0]
            if any(self._due.get(key) == due for key in self._keys_at[due]):
                return due
            self._drop()
        return None

    def pop_due(self, now: float) -> Iterator[K]:
        """Yield and forget every key that is due."""
        waiting = self._due
        while self._heap and self._heap[0] <= now:
            due = self._heap[0]
            for key in self._drop():
                if waiting.get(key) == due:
                    del waiting[key]
                    yield key

    def _drop(self) -> list[K]:
        """Take the first time out of the heap, and return the keys that were put there."""
        keys = self._keys_at.pop(heapq.heappop(self._heap))
        self._entries -= len(keys)
        return keys

    def _rebuild(self) -> None:
        self._keys_at = {}
        for key, due in self._due.items():
            self._keys_at.setdefault(due, []).append(key)
        self._heap = list(self._keys_at)
        heapq.heapify(self._heap)
        self._entries = len(self._due)


_LONGEST = 10 * 365 * 86_400.0
"""Seconds after which at the latest a waiter is called, which then waits on: the time that an object names may be infinite."""


class Waiter(Protocol):
    """Something that waits for its time."""

    def on_due(self) -> None:
        """Do what is due now; must return at once."""
        ...

    def __hash__(self) -> int: ...


class DelayQueue:
    """A schedule that runs on the loop's clock; there is no task and no timer for each waiter."""

    def __init__(self) -> None:
        """Begin empty; must be called on the running loop."""
        self._loop = asyncio.get_running_loop()
        self._schedule: DueTimes[Waiter] = DueTimes()
        self._timer: asyncio.TimerHandle | None = None
        self._alarm = float("inf")

    def __len__(self) -> int:
        return len(self._schedule)

    def __contains__(self, waiter: Waiter) -> bool:
        return waiter in self._schedule

    def now(self) -> float:
        """Return the time on the loop's clock, in seconds."""
        return self._loop.time()

    def put(self, waiter: Waiter, delay: float) -> None:
        """Call `waiter.on_due` after `delay` seconds, instead of at the time it was due before."""
        due = self._loop.time() + min(delay, _LONGEST)
        self.put_at(waiter, due if delay < _LONG else ceil(due * _STEPS) / _STEPS)

    def put_at(self, waiter: Waiter, due: float) -> None:
        """Call `waiter.on_due` at a time of the loop's clock; equal times of many waiters cost less than different ones."""
        self._schedule.put(waiter, due)
        if due < self._alarm:
            self._set_alarm(due)

    def forget(self, waiter: Waiter) -> bool:
        """Remove a waiter; return whether it waited."""
        return self._schedule.forget(waiter)

    def close(self) -> None:
        """Stop calling waiters."""
        if self._timer is not None:
            self._timer.cancel()

    def _set_alarm(self, due: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._alarm = due
        self._timer = self._loop.call_at(due, self._ring)

    def _ring(self) -> None:
        self._timer, self._alarm = None, float("inf")
        for waiter in self._schedule.pop_due(self._loop.time()):
            waiter.on_due()
        due = self._schedule.next_due()
        if due is not None and due < self._alarm:
            self._set_alarm(due)
