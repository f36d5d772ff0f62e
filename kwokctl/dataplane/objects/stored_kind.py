"""Reads the kind of an object from its stored value, without decoding the rest."""

from typing import NamedTuple

import msgspec

from kwokctl.dataplane.copies.protobuf_stamp import PREFIX
from kwokctl.etcd.protobuf import LENGTH, MessageError, fields, mark

_FIRST, _SECOND = mark(1, LENGTH), mark(2, LENGTH)


class StoredKind(NamedTuple):
    """The kind of an object, with the version in which it is stored."""

    api_version: str
    kind: str


class _Head(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""


_DECODER = msgspec.json.Decoder(_Head)


def stored_kind(value: bytes) -> StoredKind | None:
    """Return the kind of a stored object; None if the value is encrypted, or not an object."""
    try:
        return _of_protobuf(value) if value.startswith(PREFIX) else _of_json(value)
    except (MessageError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _of_json(value: bytes) -> StoredKind | None:
    head = _DECODER.decode(value)
    return StoredKind(head.api_version, head.kind) if head.kind else None


def _of_protobuf(value: bytes) -> StoredKind | None:
    """Read the type of a `runtime.Unknown`: its first field, a message with version and kind."""
    for number, start, stop in fields(value, len(PREFIX), len(value)):
        if number == _FIRST:
            parts = {field: value[at:end] for field, at, end in fields(value, start, stop)}
            return StoredKind(parts.get(_FIRST, b"").decode(), parts.get(_SECOND, b"").decode())
    return None
