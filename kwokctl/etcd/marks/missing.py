"""Finds the few keys of many that are gone, by counting: listing all of them would take seconds."""

import asyncio
from bisect import bisect_left
from collections.abc import Awaitable, Callable, Sequence

import msgspec

FEW = 256
"""Keys of a range that are listed rather than counted further."""


class MissingKeys(msgspec.Struct, frozen=True, kw_only=True):
    """Looks for known keys in a store that may hold others."""

    known: Sequence[bytes]
    """In order."""
    others: Sequence[bytes]
    """Every other key that the store holds, in order."""
    count: Callable[[bytes, bytes], Awaitable[int]]
    """Counts the keys of a range."""
    listed: Callable[[bytes, bytes], Awaitable[Sequence[bytes]]]
    """Returns the keys of a range."""

    async def within(self, start: bytes, end: bytes) -> list[bytes]:
        """Return the known keys of a range that the store does not hold."""
        first, last = bisect_left(self.known, start), bisect_left(self.known, end)
        if first == last:
            return []
        return await self._found(first, last, await self._lost(first, last))

    async def _found(self, first: int, last: int, lost: int) -> list[bytes]:
        """Return those of `known[first:last]` that are gone; their number is given."""
        if lost == 0:
            return []
        if lost == last - first:
            return list(self.known[first:last])
        if last - first <= FEW:
            there = set(await self.listed(*self._range(first, last)))
            return [key for key in self.known[first:last] if key not in there]
        middle = (first + last) // 2
        left = await self._lost(first, middle)
        halves = await asyncio.gather(
            self._found(first, middle, left), self._found(middle, last, lost - left)
        )
        return [key for half in halves for key in half]

    async def _lost(self, first: int, last: int) -> int:
        start, end = self._range(first, last)
        others = bisect_left(self.others, end) - bisect_left(self.others, start)
        return last - first - (await self.count(start, end) - others)

    def _range(self, first: int, last: int) -> tuple[bytes, bytes]:
        return self.known[first], self.known[last - 1] + b"\0"
