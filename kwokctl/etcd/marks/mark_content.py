"""Keeps the keys and values of a mark in a file.

The file holds the values one after the other, then an index in MessagePack
(https://github.com/msgpack/msgpack/blob/master/spec.md), its CRC-32 and its size. Only the index is
read as a whole: of a hundred thousand values a rewind needs a few.
"""

import os
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import BinaryIO
from zlib import crc32

import msgspec

from kwokctl.errors import SnapshotError
from kwokctl.etcd.kv.operations import KeyValue
from kwokctl.etcd.marks.mark_difference import Kept

_ANY_VERSION = b"kwokctl mark "
_MAGIC = _ANY_VERSION + b"1\n\0"
_TAIL = struct.Struct("<IQ")
"""The CRC-32 of the index, and its size."""


class _Entry(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """The position of a key's value in the file."""

    key: bytes
    mod_revision: int
    lease: int
    offset: int
    size: int
    sum: int


_DECODER = msgspec.msgpack.Decoder(list[_Entry])


class ContentWriter:
    """Writes the file; the keys must come in order."""

    def __init__(self, file: BinaryIO) -> None:
        """Begin an empty file."""
        self._file = file
        self._entries: list[_Entry] = []
        self._at = file.write(_MAGIC)

    def add(self, items: Sequence[KeyValue]) -> None:
        """Write more values."""
        for item in items:
            size, total = len(item.value), crc32(item.value)
            entry = _Entry(item.key, item.mod_revision, item.lease, self._at, size, total)
            self._entries.append(entry)
            self._at += size
        self._file.writelines(item.value for item in items)

    def finish(self) -> int:
        """Write the index; return how many keys there are."""
        index = msgspec.msgpack.encode(self._entries)
        self._file.write(index + _TAIL.pack(crc32(index), len(index)))
        return len(self._entries)


class Content:
    """The keys and values that etcd held at a mark."""

    def __init__(self, path: Path, descriptor: int, entries: list[_Entry]) -> None:
        """Read values from an open file when they are requested."""
        self._path = path
        self._descriptor = descriptor
        self._entries = {entry.key: entry for entry in entries}

    @cached_property
    def keys(self) -> list[bytes]:
        """All keys, in order."""
        return list(self._entries)

    def __contains__(self, key: bytes) -> bool:
        return key in self._entries

    def revision_of(self, key: bytes) -> int:
        """Return when a key had last been written; 0 if there was none."""
        entry = self._entries.get(key)
        return entry.mod_revision if entry else 0

    def find(self, key: bytes) -> Kept | None:
        """Return what was stored at a key. Raises SnapshotError if the file has been damaged."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        value = os.pread(self._descriptor, entry.size, entry.offset)
        if crc32(value) != entry.sum:
            raise _damaged(self._path)
        return Kept(value, entry.lease)

    def verify(self) -> None:
        """Read all values. Raises SnapshotError if one has been damaged."""
        if not self._entries:
            return
        with mmap(self._descriptor, 0, access=ACCESS_READ) as whole, memoryview(whole) as view:
            for entry in self._entries.values():
                with view[entry.offset : entry.offset + entry.size] as value:
                    if crc32(value) != entry.sum:
                        raise _damaged(self._path)


@contextmanager
def opened(path: Path) -> Iterator[Content]:
    """Open a file that ContentWriter has written; SnapshotError if it is not whole."""
    try:
        file = path.open("rb")
    except OSError as e:
        raise SnapshotError(
            f"'{path}' cannot be read: {e.strerror}", hint="drop the mark, and make it again"
        ) from e
    with file:
        yield Content(path, file.fileno(), _index(path, file))


def _index(path: Path, file: BinaryIO) -> list[_Entry]:
    whole = file.seek(0, os.SEEK_END)
    file.seek(0)
    head = file.read(len(_MAGIC))
    if head != _MAGIC and head.startswith(_ANY_VERSION):
        raise SnapshotError(
            f"'{path}' was written by another version of kwokctl",
            hint="use that one, or drop the mark and make it again",
        )
    if head != _MAGIC or whole < len(_MAGIC) + _TAIL.size:
        raise _damaged(path)
    file.seek(whole - _TAIL.size)
    expected, size = _TAIL.unpack(file.read(_TAIL.size))
    start = whole - _TAIL.size - size
    if start < len(_MAGIC):
        raise _damaged(path)
    file.seek(start)
    index = file.read(size)
    if crc32(index) != expected:
        raise _damaged(path)
    try:
        return _DECODER.decode(index)
    except msgspec.MsgspecError as e:
        raise _damaged(path) from e


def _damaged(path: Path) -> SnapshotError:
    return SnapshotError(
        f"'{path}' is damaged, or is not a mark", hint="drop the mark, and make it again"
    )
