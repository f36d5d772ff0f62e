"""When an arrival is sent: when it is due, or when one before it has ended."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from itertools import count, islice
from typing import TypeVar

from kwokctl.load.client.sender import Clock
from kwokctl.load.description.schema import LoadSpec

_NANOS = 1e9

Prepared = TypeVar("Prepared")


class Turns:
    """The turns of one load; they begin when it is made."""

    def __init__(self, spec: LoadSpec, speed: float, clock: Clock) -> None:
        """Arrivals are due `speed` times as fast as the document says."""
        self._spec, self._speed, self._clock = spec, speed, clock
        self._start = self._clock()
        places = spec.arrivals.concurrency
        self._places = None if places is None else asyncio.Semaphore(places)

    @property
    def is_closed(self) -> bool:
        """Whether one arrival is due when another ends."""
        return self._places is not None

    async def dues(
        self, times: Iterator[float], prepare: Callable[[int], Prepared]
    ) -> AsyncIterator[tuple[int, int, Prepared]]:
        """Yield the number of each arrival when it is due, and when that was, by the clock.

        What `prepare` makes of its number comes with it, and is made before, so that it delays nothing.
        """
        if self._places is not None:
            async for index, due in self._in_turn(self._places):
                yield index, due, prepare(index)
            return
        for index, seconds in enumerate(times):
            prepared = prepare(index)
            due = self._start + round(seconds / self._speed * _NANOS)
            left = due - self._clock()
            if left > 0:
                await asyncio.sleep(left / _NANOS)
            yield index, due, prepared

    async def _in_turn(self, places: asyncio.Semaphore) -> AsyncIterator[tuple[int, int]]:
        lasts = self._spec.lasts
        end = None if lasts is None else self._start + lasts / self._speed * _NANOS
        for index in islice(count(), self._spec.count):
            await places.acquire()
            now = self._clock()
            if end is not None and now >= end:
                return
            yield index, now

    def give_back(self) -> None:
        """Take note that an arrival has ended."""
        if self._places is not None:
            self._places.release()
