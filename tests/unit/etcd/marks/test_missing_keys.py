"""Keys that are gone are found by counting."""

import asyncio
from bisect import bisect_left
from collections.abc import Sequence
from random import Random

import pytest

from kwokctl.etcd.marks.present import FEW, MissingKeys

KNOWN = [f"/registry/pods/default/pod-{n:05}".encode() for n in range(10 * FEW)]


class CountingStore:
    """Answers for a set of keys, and remembers how often it had to list some, and how many."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._keys = sorted(keys)
        self.lists = self.listed = 0

    async def count(self, start: bytes, end: bytes) -> int:
        return bisect_left(self._keys, end) - bisect_left(self._keys, start)

    async def list(self, start: bytes, end: bytes) -> Sequence[bytes]:
        found = self._keys[bisect_left(self._keys, start) : bisect_left(self._keys, end)]
        self.lists += 1
        self.listed += len(found)
        return found


def _missing(store: CountingStore, known: Sequence[bytes], others: Sequence[bytes]) -> list[bytes]:
    search = MissingKeys(known=known, others=others, count=store.count, listed=store.list)
    return asyncio.run(search.within(b"/registry/", b"/registry0"))


@pytest.mark.parametrize("number", [1, 2, 30, len(KNOWN) // 2, len(KNOWN)])
def test_every_key_that_is_gone_is_found_and_no_other(number: int) -> None:
    choose = Random(number)
    for new in (0, 1, 100):
        gone = set(choose.sample(KNOWN, number))
        others = sorted(key + b"-new" for key in choose.sample(KNOWN, new))
        store = CountingStore([key for key in KNOWN if key not in gone] + others)

        assert _missing(store, KNOWN, others) == sorted(gone)


def test_nothing_is_listed_when_nothing_is_gone() -> None:
    store = CountingStore(KNOWN)

    assert _missing(store, KNOWN, []) == []
    assert store.lists == 0


def test_one_key_of_many_is_found_by_a_short_list() -> None:
    store = CountingStore([key for key in KNOWN if key != KNOWN[1234]])

    assert _missing(store, KNOWN, []) == [KNOWN[1234]]
    assert store.lists == 1
    assert store.listed < FEW


def test_all_of_them_gone_needs_no_list() -> None:
    store = CountingStore([])

    assert _missing(store, KNOWN, []) == KNOWN
    assert store.lists == 0
