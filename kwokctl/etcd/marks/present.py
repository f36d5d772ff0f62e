"""Reads what etcd holds now, as far as it may differ from a mark: keys that changed, and keys that are gone.

The few keys of many that are gone are found by counting: listing all of them would take seconds.
"""

import asyncio
from bisect import bisect_left
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

import msgspec

from kwokctl.etcd.kv.kv import KeyPage, KeyValue, Kv
from kwokctl.etcd.marks.mark_content import Content

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


Range = tuple[bytes, bytes]
"""A half-open range of keys: from the first, and below the second."""
_PAGE = 10_000
_READS_TOGETHER = 64


class Present(NamedTuple):
    """The keys that may differ from a mark, all at one revision."""

    revision: int
    changed: list[KeyValue]
    """The keys that were written since, or are not in the mark."""
    missing: list[bytes]
    """The keys of the mark that are gone."""


async def present_since(
    kv: Kv, content: Content, ranges: Sequence[Range], baseline: int
) -> Present:
    """Look only at what was written after `baseline`, a revision at which all was as at the mark."""
    revision = await current_revision(kv)
    read = partial(kv.written, since=baseline + 1, revision=revision)
    changed = list(chain.from_iterable(await asyncio.gather(*(read(*each) for each in ranges))))

    async def count(start: bytes, end: bytes) -> int:
        return await kv.count(start, end, revision=revision)

    async def listed(start: bytes, end: bytes) -> Sequence[bytes]:
        page = await kv.page(start, end, revision=revision, keys_only=True)
        return [item.key for item in page.items]

    others = sorted(item.key for item in changed if item.key not in content)
    search = MissingKeys(known=content.keys, others=others, count=count, listed=listed)
    missing = await asyncio.gather(*(search.within(start, end) for start, end in ranges))
    return Present(revision, changed, list(chain.from_iterable(missing)))


async def present_in_all(kv: Kv, content: Content, ranges: Sequence[Range]) -> Present:
    """Look at every key, where revisions since the mark say nothing: etcd has another history."""
    revision = await current_revision(kv)
    there: dict[bytes, int] = {}
    for start, end in ranges:
        async for page in pages_of(kv, start, end, revision=revision, keys_only=True):
            there.update((item.key, item.mod_revision) for item in page.items)
    suspects = [key for key, written in there.items() if content.revision_of(key) != written]
    changed: list[KeyValue] = []
    for first in range(0, len(suspects), _READS_TOGETHER):
        read = (_one(kv, key, revision) for key in suspects[first : first + _READS_TOGETHER])
        changed += chain.from_iterable(await asyncio.gather(*read))
    missing = [key for key in content.keys if key not in there and _is_within(key, ranges)]
    return Present(revision, changed, missing)


async def current_revision(kv: Kv) -> int:
    """Return the revision of the last write."""
    return (await kv.page(b"\0", b"", limit=1)).revision


async def pages_of(
    kv: Kv, start: bytes, end: bytes, *, revision: int, keys_only: bool = False, limit: int = _PAGE
) -> AsyncIterator[KeyPage]:
    """Yield the keys of a range, many at a time."""
    while True:
        page = await kv.page(start, end, limit=limit, revision=revision, keys_only=keys_only)
        yield page
        if not page.more:
            return
        start = page.items[-1].key + b"\0"


async def _one(kv: Kv, key: bytes, revision: int) -> Sequence[KeyValue]:
    return (await kv.page(key, b"", revision=revision)).items


def _is_within(key: bytes, ranges: Sequence[Range]) -> bool:
    return any(start <= key < end for start, end in ranges)
