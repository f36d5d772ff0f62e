"""Encodes Events for etcd as protocol buffers, byte for byte as kube-apiserver stores them.

Field numbers are those of k8s.io/api/core/v1, k8s.io/apimachinery/pkg/apis/meta/v1 and
k8s.io/apimachinery/pkg/runtime (generated.proto of each). Texts and numbers that are no pointers in
Go are written even when they are empty.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

import orjson

from kwokctl.dataplane.copies import message_template
from kwokctl.dataplane.copies.protobuf_stamp import PREFIX
from kwokctl.dataplane.events.object_event import ObjectEvent
from kwokctl.etcd.protobuf import LENGTH, VARINT, fields, mark, sized, tag, varint
from kwokctl.json_value import Json
from kwokctl.kube.resource import EVENTS, Resource

_SIZED = [tag(number, LENGTH) for number in range(18)]
_EMPTY = [sized(head, b"") for head in _SIZED]
_TYPE = sized(
    _SIZED[1],
    sized(_SIZED[1], EVENTS.api_version.encode()) + sized(_SIZED[2], EVENTS.kind.encode()),
)
_HEAD = PREFIX + _TYPE
_TAIL = _EMPTY[3] + _EMPTY[4]
"""The encoding and the type of the content."""
_NO_GENERATION = tag(7, VARINT) + varint(0)
_COUNT = tag(8, VARINT)
_FIELDS = (
    "count", "firstTimestamp", "involvedObject", "lastTimestamp", "message", "reason",
    "reportingComponent", "source", "type",
)  # fmt: skip
"""The managed fields of an Event's writer."""
_REMEMBERED = 256
"""The most kinds of Events within a second that are cached."""


def stored_value(event: ObjectEvent, uid: str, manager: str) -> bytes:
    """Encode a new Event with this uid; `manager` owns its fields unless it is empty."""
    common = _common(_kind_of(event), manager, event.first_second, event.second, event.count)
    metadata = (_text(1, event.name), common.before_uid, _text(5, uid), common.after_uid)
    about = (
        common.before_about,
        _text(3, event.about),
        _text(4, event.uid),
        common.before_version,
        _text(6, event.version),
        common.after_version,
    )
    raw = (
        sized(_SIZED[1], b"".join(metadata)),
        sized(_SIZED[2], b"".join(about)),
        common.before_message,
        _text(4, event.message),
        common.after_message,
    )
    return b"".join((_HEAD, sized(_SIZED[2], b"".join(raw)), _TAIL))


def _text(number: int, text: str) -> bytes:
    return sized(_SIZED[number], text.encode())


class _Kind(NamedTuple):
    """The values that Events of one kind share."""

    about: Resource
    about_namespace: str
    namespace: str
    field: str
    type: str
    reason: str
    component: str
    has_message: bool


def _kind_of(event: ObjectEvent) -> _Kind:
    return _Kind(
        event.resource,
        event.about_namespace,
        event.namespace,
        event.field,
        event.type,
        event.reason,
        event.component,
        bool(event.message),
    )


class _Common(NamedTuple):
    """The bytes that many Events share, between those of a single Event."""

    before_uid: bytes
    after_uid: bytes
    before_about: bytes
    before_version: bytes
    after_version: bytes
    before_message: bytes
    after_message: bytes


@lru_cache(maxsize=_REMEMBERED)
def _common(kind: _Kind, manager: str, first: int, last: int, count: int) -> _Common:
    made = sized(_SIZED[8], _time(last))
    return _Common(
        before_uid=_EMPTY[2] + _text(3, kind.namespace) + _EMPTY[4],
        after_uid=_EMPTY[6] + _NO_GENERATION + made + _owned(kind, manager, last),
        before_about=_text(1, kind.about.kind) + _text(2, kind.about_namespace),
        before_version=_text(5, kind.about.api_version),
        after_version=_text(7, kind.field),
        before_message=_text(3, kind.reason),
        after_message=_after_message(kind, first, last, count),
    )


def _after_message(kind: _Kind, first: int, last: int, count: int) -> bytes:
    return b"".join(
        (
            sized(_SIZED[5], _text(1, kind.component) + _EMPTY[2]),
            sized(_SIZED[6], _time(first)),
            sized(_SIZED[7], _time(last)),
            _COUNT + varint(count),
            _text(9, kind.type),
            _EMPTY[10],
            _EMPTY[12],
            _text(14, kind.component),
            _EMPTY[15],
        )
    )


def _owned(kind: _Kind, manager: str, second: int) -> bytes:
    given = {"type": kind.type, "reason": kind.reason, "message": kind.has_message}
    absent = tuple(name for name, is_there in given.items() if not is_there)
    return _managed_fields(manager, second, absent) if manager else b""


@lru_cache(maxsize=_REMEMBERED)
def _managed_fields(manager: str, second: int, absent: tuple[str, ...]) -> bytes:
    """Encode the entry that makes a manager the owner of all fields but the `absent` ones."""
    fields: dict[str, Json] = {f"f:{name}": {} for name in _FIELDS if name not in absent}
    fields["f:source"] = {"f:component": {}}
    entry = (
        _text(1, manager),
        _text(2, "Update"),
        _text(3, EVENTS.api_version),
        sized(_SIZED[4], _time(second)),
        _text(6, "FieldsV1"),
        sized(_SIZED[7], sized(_SIZED[1], orjson.dumps(fields))),
        _EMPTY[8],
    )
    return sized(_SIZED[17], b"".join(entry))


@lru_cache(maxsize=64)
def _time(second: int) -> bytes:
    return message_template.time(second)


_RAW_MARK = mark(2, LENGTH)
"""The tag of the object in a runtime.Unknown of Kubernetes."""
_LAST_MARK, _COUNT_MARK = mark(7, LENGTH), mark(8, VARINT)
"""Tags of fields of an Event."""


def recounted(stored: bytes, count: int, second: int) -> bytes | None:
    """Return a stored Event with another count and last time; None if it is not encoded as expected."""
    changed = {
        _LAST_MARK: sized(tag(7, LENGTH), message_template.time(second)),
        _COUNT_MARK: tag(8, VARINT) + varint(count),
    }
    head, end = len(PREFIX), len(stored)
    if not stored.startswith(PREFIX):
        return None
    found = [stored[at:stop] for key, at, stop in fields(stored, head, end) if key == _RAW_MARK]
    if not found:
        return None
    event = found[0]
    raw = sized(tag(2, LENGTH), b"".join(_replaced(event, 0, len(event), changed)))
    return PREFIX + b"".join(_replaced(stored, head, end, {_RAW_MARK: raw}))


def _replaced(data: bytes, at: int, end: int, changed: Mapping[int, bytes]) -> Iterator[bytes]:
    """Yield the fields of a message, with those of `changed` replaced."""
    for key, _, stop in fields(data, at, end):
        yield changed.get(key, data[at:stop])
        at = stop
