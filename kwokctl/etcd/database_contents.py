"""Reads an etcd database file directly: no etcd is needed, and none may be running on it.

etcd keeps every change in the bucket `key`, under its revision: eight bytes, an underscore, eight
bytes, and a `t` behind them if the change was a deletion. The value is a `mvccpb.KeyValue`
(https://etcd.io/docs/v3.6/learning/data_model/,
https://github.com/etcd-io/etcd/blob/main/server/storage/mvcc/revision.go).
"""

from collections.abc import Iterator
from pathlib import Path

from kwokctl.etcd.bolt import Bolt, DamagedFileError
from kwokctl.etcd.protobuf import LENGTH, MessageError, fields, mark

_BUCKET = b"key"
_REVISION_BYTES = 8
_LIVE_KEY_BYTES = 17
_KEY = mark(1, LENGTH)
_ALWAYS = b"/namespaces/kube-system"
"""Keys that every API server creates, behind the prefix of its objects."""


def look(path: Path, prefix: str) -> tuple[str, ...] | None:
    """Return the prefixes of other API servers in a file; None if it has keys under this prefix.

    Raises DamagedFileError if that cannot be read.
    """
    wanted = f"{prefix}/".encode()
    others = set()
    with path.open("rb") as file:
        for key in _keys(Bolt.of(file)):
            if key.startswith(wanted):
                return None
            if key.endswith(_ALWAYS):
                others.add(key.removesuffix(_ALWAYS).decode(errors="replace"))
    return tuple(sorted(others))


def has_key(path: Path, key: str) -> bool:
    """Return whether a file has ever had a key, as far as its history reaches.

    Raises DamagedFileError if that cannot be read.
    """
    wanted = key.encode()
    with path.open("rb") as file:
        return wanted in _keys(Bolt.of(file))


def last_revision(path: Path) -> int:
    """Return the revision of the last change that a file has; 0 if it has none.

    An etcd that was killed may have more in its log. Raises DamagedFileError for a file that is not a database.
    """
    with path.open("rb") as file:
        last = Bolt.of(file).last(_BUCKET)
    return int.from_bytes(last[0][:_REVISION_BYTES]) if last else 0


def _keys(bolt: Bolt) -> Iterator[bytes]:
    for revision, value in bolt.items(_BUCKET):
        if len(revision) != _LIVE_KEY_BYTES:
            continue
        try:
            yield from (
                value[at:end] for key, at, end in fields(value, 0, len(value)) if key == _KEY
            )
        except MessageError as e:
            raise DamagedFileError(f"a change is unreadable: {e}") from e
