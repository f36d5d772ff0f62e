"""A difference leads back to what was marked, whatever has happened since."""

from collections.abc import Iterator, Mapping
from random import Random

import pytest

from kwokctl.etcd.kv.operations import KeyValue
from kwokctl.etcd.marks.mark_difference import Kept, Write, difference

KEYS = [f"/registry/pods/default/{name}".encode() for name in "abcdefgh"]
Store = dict[bytes, tuple[bytes, int]]
"""Values and leases, by key."""
ROUNDS = 2_000


def _stores() -> Iterator[tuple[Store, Store]]:
    """Yield what there was at a mark, and what there is now."""
    choose = Random(18)
    for _ in range(ROUNDS):
        yield _store(choose), _store(choose)


def _store(choose: Random) -> Store:
    keys = choose.sample(KEYS, choose.randrange(len(KEYS) + 1))
    return {key: (choose.choice([b"1", b"2", b"3"]), choose.choice([0, 0, 7])) for key in keys}


class Remembered:
    def __init__(self, store: Mapping[bytes, tuple[bytes, int]]) -> None:
        self._store = store

    def find(self, key: bytes) -> Kept | None:
        return Kept(*self._store[key]) if key in self._store else None


def _difference(marked: Store, now: Store, seen: int = 9) -> list[Write]:
    changed = [
        KeyValue(key, value, seen, lease)
        for key, (value, lease) in now.items()
        if marked.get(key) != (value, lease)
    ]
    missing = [key for key in marked if key not in now]
    return list(difference(Remembered(marked), changed, missing))


def _after(now: Store, writes: list[Write]) -> Store:
    after = dict(now)
    for write in writes:
        if write.value is None:
            del after[write.key]
        else:
            after[write.key] = write.value, 0
    return after


def _without_leases(store: Store, *others: Store) -> Store:
    leased = {key for each in (store, *others) for key, (_, lease) in each.items() if lease}
    return {key: kept for key, kept in store.items() if key not in leased}


@pytest.mark.parametrize(
    ("then", "now", "written"),
    [
        (None, (b"1", 0), [None]),
        ((b"1", 0), (b"2", 0), [b"1"]),
        ((b"1", 0), (b"1", 0), []),
        ((b"1", 0), (b"2", 7), []),
        ((b"1", 7), (b"2", 0), []),
        ((b"1", 0), None, [b"1"]),
        ((b"1", 7), None, []),
        (None, None, []),
    ],
)
def test_what_is_another_or_gone_is_put_back_and_what_is_new_deleted(
    then: tuple[bytes, int] | None, now: tuple[bytes, int] | None, written: list[bytes | None]
) -> None:
    marked = Remembered({b"/a": then} if then else {})
    changed = [KeyValue(b"/a", now[0], 9, now[1])] if now else []

    writes = difference(marked, changed, [] if now else [b"/a"])

    assert [write.value for write in writes] == written


def test_after_the_writes_all_is_as_marked_but_what_has_leases() -> None:
    for marked, now in _stores():
        after = _after(now, _difference(marked, now))

        assert _without_leases(after, marked, now) == _without_leases(marked, now)


def test_what_expires_with_a_lease_is_never_written() -> None:
    for marked, now in _stores():
        leased = {key for each in (marked, now) for key, (_, lease) in each.items() if lease}

        assert leased.isdisjoint(write.key for write in _difference(marked, now))


def test_there_is_no_difference_when_the_writes_were_made() -> None:
    for marked, now in _stores():
        after = _after(now, _difference(marked, now))

        assert _difference(marked, after) == []


def test_a_key_is_written_only_as_it_was_seen() -> None:
    [write] = _difference({KEYS[0]: (b"1", 0)}, {KEYS[0]: (b"2", 0)}, seen=12)

    assert write == Write(KEYS[0], b"1", 12, b"2")


def test_a_key_that_is_gone_is_written_only_while_it_is() -> None:
    [write] = _difference({KEYS[0]: (b"1", 0)}, {})

    assert write == Write(KEYS[0], b"1", 0)
