"""Computes what must be written so that etcd holds again what it held at a mark. Pure functions."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

import msgspec

from kwokctl.etcd.kv.operations import KeyValue


class Kept(NamedTuple):
    """A key as a mark holds it."""

    value: bytes
    lease: int
    """With which it was to expire; 0 if it was not."""


class Marked(Protocol):
    """The keys of a mark."""

    def find(self, key: bytes) -> Kept | None:
        """Return what was stored at a key; None if nothing was."""
        ...


class Write(msgspec.Struct, frozen=True, gc=False):
    """One key that is to be put back, or to be deleted."""

    key: bytes
    value: bytes | None
    """The value to store; None to delete the key."""
    seen: int
    """The revision at which it was last written when the difference was seen; 0 if it was gone."""
    former: bytes = b""
    """The value at that time."""


def difference(
    marked: Marked, changed: Iterable[KeyValue], missing: Iterable[bytes]
) -> Iterator[Write]:
    """Yield the writes that lead back, given the keys written since and those that are gone.

    What expires with a lease of etcd is left alone: it belongs to a program that runs.
    """
    for now in changed:
        then = marked.find(now.key)
        if now.lease or (then is not None and then.lease):
            continue
        if then is None:
            yield Write(now.key, None, now.mod_revision, now.value)
        elif then.value != now.value:
            yield Write(now.key, then.value, now.mod_revision, now.value)
    for key in missing:
        then = marked.find(key)
        if then is not None and not then.lease:
            yield Write(key, then.value, 0)
