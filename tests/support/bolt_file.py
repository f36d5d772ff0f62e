"""Small bbolt files, written page by page as etcd's database has them."""

import hashlib
import struct
from collections.abc import Mapping, Sequence

PAGE = 4096
_BRANCH, _LEAF, _META = 1, 2, 4
_MAGIC = 0xED0CDAED


def database(keys: Sequence[str], *, per_leaf: int = 2, deleted: Sequence[str] = ()) -> bytes:
    """Return etcd's database after these keys have been written, each at its own revision."""
    changes = {_revision(n): _key_value(key) for n, key in enumerate(keys, start=1)}
    for n, key in enumerate(deleted, start=len(keys) + 1):
        changes[_revision(n) + b"t"] = _key_value(key)
    return bolt({b"key": changes}, per_leaf=per_leaf)


def snapshot(content: bytes) -> bytes:
    """Return a database with etcd's sum behind it."""
    return content + hashlib.sha256(content).digest()


def bolt(buckets: Mapping[bytes, Mapping[bytes, bytes]], *, per_leaf: int) -> bytes:
    """Return a file with one root leaf; each bucket is a branch over its leaves, or is inlined."""
    pages: list[bytes] = []
    roots = {}
    for name, items in sorted(buckets.items()):
        ordered = sorted(items.items())
        groups = [ordered[n : n + per_leaf] for n in range(0, len(ordered), per_leaf)]
        if len(groups) <= 1:
            roots[name] = struct.pack("<QQ", 0, 0) + _leaf(0, ordered)
            continue
        first = 4 + len(pages)
        leaves = [(group[0][0], first + n) for n, group in enumerate(groups)]
        pages += [_leaf(first + n, group) for n, group in enumerate(groups)]
        roots[name] = struct.pack("<QQ", first + len(groups), 0)
        pages.append(_branch(first + len(groups), leaves))
    body = [_leaf(2, sorted(roots.items()), flags=1), _padded(struct.pack("<QHHI", 3, 16, 0, 0))]
    count = 4 + len(pages)
    # The older of the two meta pages points nowhere, as one that was being written would.
    metas = [_meta(0, root=2, pages=count, txid=7), _meta(1, root=9999, pages=count, txid=6)]
    return b"".join(map(_padded, (*metas, *body, *pages)))


def _meta(number: int, *, root: int, pages: int, txid: int) -> bytes:
    meta = struct.pack("<IIIIQQQQQ", _MAGIC, 2, PAGE, 0, root, 0, 3, pages, txid)
    found = 0xCBF29CE484222325
    for byte in meta:
        found = (found ^ byte) * 0x100000001B3 % (1 << 64)
    return struct.pack("<QHHI", number, _META, 0, 0) + meta + struct.pack("<Q", found)


def _leaf(number: int, items: Sequence[tuple[bytes, bytes]], *, flags: int = 0) -> bytes:
    heads, content = b"", b""
    for n, (key, value) in enumerate(items):
        position = (len(items) - n) * 16 + len(content)
        heads += struct.pack("<IIII", flags, position, len(key), len(value))
        content += key + value
    return struct.pack("<QHHI", number, _LEAF, len(items), 0) + heads + content


def _branch(number: int, children: Sequence[tuple[bytes, int]]) -> bytes:
    heads, content = b"", b""
    for n, (key, child) in enumerate(children):
        position = (len(children) - n) * 16 + len(content)
        heads += struct.pack("<IIQ", position, len(key), child)
        content += key
    return struct.pack("<QHHI", number, _BRANCH, len(children), 0) + heads + content


def _padded(page: bytes) -> bytes:
    assert len(page) <= PAGE
    return page.ljust(PAGE, b"\0")


def _revision(number: int) -> bytes:
    return struct.pack(">Q", number) + b"_" + bytes(8)


def _key_value(key: str) -> bytes:
    return b"\x0a" + bytes((len(key),)) + key.encode() + b"\x10\x01"
