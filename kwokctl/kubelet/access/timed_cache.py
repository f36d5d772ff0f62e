"""Remembers answers of the API server for a while, and asks once where many want the same."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

_MOST = 4096


class TimedCache(Generic[K, V]):
    """Values with the time until which each counts; the oldest goes where there are too many."""

    def __init__(
        self, clock: Callable[[], float], lasts: Callable[[V], float], *, most: int = _MOST
    ) -> None:
        """Keep at most `most` values, each as many seconds as `lasts` says."""
        self._clock = clock
        self._lasts = lasts
        self._most = most
        self._known: OrderedDict[K, tuple[V, float]] = OrderedDict()
        self._asking: dict[K, asyncio.Lock] = {}

    def __len__(self) -> int:
        return len(self._known)

    async def get(self, key: K, ask: Callable[[], Awaitable[V]]) -> V:
        """Return the value of a key, and `ask` for it if it is not known any more."""
        found = self._current(key)
        if found is not None:
            return found[0]
        lock = self._asking.setdefault(key, asyncio.Lock())
        try:
            async with lock:
                found = self._current(key)
                return found[0] if found is not None else self._kept(key, await ask())
        finally:
            if not lock.locked():
                self._asking.pop(key, None)

    def _current(self, key: K) -> tuple[V, float] | None:
        found = self._known.get(key)
        return found if found is not None and self._clock() < found[1] else None

    def _kept(self, key: K, value: V) -> V:
        self._known[key] = (value, self._clock() + self._lasts(value))
        self._known.move_to_end(key)
        while len(self._known) > self._most:
            self._known.popitem(last=False)
        return value
