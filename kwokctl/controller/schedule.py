"""Who is due when. Pure: time is an argument, and nothing here waits."""

import heapq
from collections.abc import Hashable, Iterator
from itertools import count
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)

_SLACK = 64


class Schedule(Generic[K]):
    """One heap for everything that waits; a key has one due time, and a later `put` replaces it.

    Times are seconds on whatever clock the caller keeps. Keys that are due at the same time come
    out in the order in which they were put.
    """

    __slots__ = ("_due", "_heap", "_order")

    def __init__(self) -> None:
        """Begin with nobody waiting."""
        self._heap: list[tuple[float, int, K]] = []
        self._due: dict[K, tuple[float, int]] = {}
        self._order = count()

    def __len__(self) -> int:
        """Count the keys that wait."""
        return len(self._due)

    def put(self, key: K, due: float) -> None:
        """Make a key due at a time, whatever was said about it before."""
        number = next(self._order)
        self._due[key] = (due, number)
        heapq.heappush(self._heap, (due, number, key))
        if len(self._heap) > 2 * len(self._due) + _SLACK:
            self._heap = [(when, order, k) for k, (when, order) in self._due.items()]
            heapq.heapify(self._heap)

    def forget(self, key: K) -> None:
        """Let a key wait no longer; nothing happens if it does not wait."""
        self._due.pop(key, None)

    def next_due(self) -> float | None:
        """Return when the first key is due, or None if nobody waits."""
        heap, waiting = self._heap, self._due
        while heap:
            when, number, key = heap[0]
            if waiting.get(key) == (when, number):
                return when
            heapq.heappop(heap)
        return None

    def pop_due(self, now: float) -> Iterator[K]:
        """Yield and forget every key that is due."""
        heap, waiting = self._heap, self._due
        while heap and heap[0][0] <= now:
            when, number, key = heapq.heappop(heap)
            if waiting.get(key) == (when, number):
                del waiting[key]
                yield key
            heap = self._heap
