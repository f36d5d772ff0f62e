"""Reads bbolt files, in which etcd keeps its data, while no etcd runs on them.

A file is made of pages, a bucket is a B+tree of them, and buckets lie in the leaves of a bucket of
their own, the root (https://github.com/etcd-io/bbolt/tree/main/internal/common: `page.go`,
`meta.go`, `bucket.go`).
"""

import os
import struct
from collections.abc import Iterator
from typing import BinaryIO, Self

import msgspec

MAGIC = 0xED0CDAED
_PAGE = struct.Struct("<QHHI")
"""Its number, its kind, how many elements it has, by how many pages it is longer than one."""
_META = struct.Struct("<IIIIQQQQQ")
"""Magic, version, page size, flags, root page, sequence, freelist, pages, transaction."""
_BRANCH = struct.Struct("<IIQ")
"""The start of the key, counted from here, its size, and the child's page."""
_LEAF = struct.Struct("<IIII")
"""Flags, where the key begins, counted from here, sizes of key and value."""
_BUCKET = struct.Struct("<QQ")
"""The root page of a bucket, or 0 if that page is inlined behind this; a sequence."""
_SUM = struct.Struct("<Q")
_IS_BRANCH, _IS_LEAF = 1, 2
_PAGE_SIZES = tuple(1024 << n for n in range(15))
_DEEPEST = 64
"""Levels of pages; an undamaged tree has a handful."""

Item = tuple[bytes, bytes]
"""A key and its value."""


class DamagedFileError(ValueError):
    """The file is not what bbolt writes."""


class Bolt(msgspec.Struct, frozen=True):
    """One open file. Every method raises DamagedFileError for content that bbolt would not have written."""

    _file: BinaryIO
    _page_size: int
    _root: int
    _pages: int

    @classmethod
    def of(cls, file: BinaryIO) -> Self:
        """Read the newer of the two meta pages; one of them may be half written."""
        first = _meta(file, 0)
        offsets = (first[1],) if first else _PAGE_SIZES
        metas = [meta for meta in (first, *(_meta(file, at) for at in offsets)) if meta]
        if not metas:
            raise DamagedFileError("it has no meta page")
        _, page_size, root, pages = max(metas)
        return cls(file, page_size, root, pages)

    def items(self, bucket: bytes) -> Iterator[Item]:
        """Yield all there is in a bucket, by key; nothing if there is no such bucket."""
        for leaf in self._bucket(bucket):
            yield from _items(leaf)

    def last(self, bucket: bytes) -> Item | None:
        """Return what has the greatest key of a bucket."""
        for leaf in self._bucket(bucket, backwards=True):
            if found := list(_items(leaf)):
                return found[-1]
        return None

    def _bucket(self, name: bytes, *, backwards: bool = False) -> Iterator[bytes]:
        """Yield the leaves of a bucket of the root."""
        for leaf in self._leaves(self._root):
            for key, value in _items(leaf):
                if key != name:
                    continue
                if len(value) < _BUCKET.size:
                    raise DamagedFileError("a bucket is truncated")
                root, _ = _BUCKET.unpack_from(value)
                if root:
                    yield from self._leaves(root, backwards=backwards)
                else:
                    yield value[_BUCKET.size :]
                return

    def _leaves(self, number: int, *, backwards: bool = False, depth: int = 0) -> Iterator[bytes]:
        if depth > _DEEPEST:
            raise DamagedFileError("its pages refer to each other in a cycle")
        page = self._page(number)
        if _kind(page) & _IS_LEAF:
            yield page
            return
        if not _kind(page) & _IS_BRANCH:
            raise DamagedFileError(f"page {number} holds no keys")
        children = _children(page)
        for child in reversed(children) if backwards else children:
            yield from self._leaves(child, backwards=backwards, depth=depth + 1)

    def _page(self, number: int) -> bytes:
        start = number * self._page_size
        found, _, _, more = _unpacked(_PAGE, _read(self._file, start, _PAGE.size), 0)
        if found != number or number + more >= self._pages:
            raise DamagedFileError(f"page {number} is not one")
        return _read(self._file, start, (1 + more) * self._page_size)


def _meta(file: BinaryIO, at: int) -> tuple[int, int, int, int] | None:
    """Return transaction, page size, root page and number of pages, if there is a meta page."""
    page = _read(file, at, _PAGE.size + _META.size + _SUM.size)
    if len(page) < _PAGE.size + _META.size + _SUM.size:
        return None
    meta = page[_PAGE.size : -_SUM.size]
    magic, _, page_size, _, root, _, _, pages, transaction = _META.unpack(meta)
    if magic != MAGIC or _unpacked(_SUM, page, len(page) - _SUM.size)[0] != _fnv1a(meta):
        return None
    return transaction, page_size, root, pages


def _read(file: BinaryIO, at: int, size: int) -> bytes:
    # What lies beyond the largest offset of a file, as the number of a damaged page may, is not there.
    return os.pread(file.fileno(), size, at) if at < 1 << 62 else b""


def _kind(page: bytes) -> int:
    return int(_PAGE.unpack_from(page)[1])


def _children(page: bytes) -> list[int]:
    count = _PAGE.unpack_from(page)[2]
    return [_unpacked(_BRANCH, page, _PAGE.size + n * _BRANCH.size)[2] for n in range(count)]


def _items(page: bytes) -> Iterator[Item]:
    for n in range(_unpacked(_PAGE, page, 0)[2]):
        element = _PAGE.size + n * _LEAF.size
        _, position, key_size, value_size = _unpacked(_LEAF, page, element)
        start = element + position
        middle, end = start + key_size, start + key_size + value_size
        if end > len(page):
            raise DamagedFileError("a key is truncated")
        yield page[start:middle], page[middle:end]


def _unpacked(form: struct.Struct, data: bytes, at: int) -> tuple[int, ...]:
    if at + form.size > len(data):
        raise DamagedFileError("a page is truncated")
    return form.unpack_from(data, at)


def _fnv1a(data: bytes) -> int:
    """Hash as FNV-1a does, in 64 bits (https://datatracker.ietf.org/doc/html/rfc9923)."""
    found = 0xCBF29CE484222325
    for byte in data:
        found = (found ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return found
