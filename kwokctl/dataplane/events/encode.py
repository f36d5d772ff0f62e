"""Writes an Event for etcd as a protocol buffer, byte for byte as kube-apiserver stores it.

Field numbers are those of k8s.io/api/core/v1, k8s.io/apimachinery/pkg/apis/meta/v1 and
k8s.io/apimachinery/pkg/runtime (generated.proto of each). Texts and numbers that are no pointers in
Go are written even when they are empty.
"""

from functools import lru_cache

import orjson

from kwokctl.dataplane.copies import message_template
from kwokctl.dataplane.copies.protobuf_stamp import PREFIX
from kwokctl.dataplane.events.object_event import ObjectEvent
from kwokctl.etcd.protobuf import LENGTH, VARINT, sized, tag, varint
from kwokctl.json_value import Json
from kwokctl.kube.resource import EVENTS

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
"""What the writer of an Event owns."""
_REMEMBERED = 256
"""Kinds of Events within a second."""


def stored_value(event: ObjectEvent, uid: str, manager: str) -> bytes:
    """Return a new Event with this uid; `manager` owns its fields unless it is empty."""
    made = _time(event.second)
    metadata = b"".join(
        (
            _text(1, event.name),
            _EMPTY[2],
            _text(3, event.namespace),
            _EMPTY[4],
            _text(5, uid),
            _EMPTY[6],
            _NO_GENERATION,
            sized(_SIZED[8], made),
            _owned(event, manager) if manager else b"",
        )
    )
    raw = b"".join((sized(_SIZED[1], metadata), sized(_SIZED[2], _object(event)), _words(event)))
    return b"".join((_HEAD, sized(_SIZED[2], raw), _TAIL))


def _text(number: int, text: str) -> bytes:
    return sized(_SIZED[number], text.encode())


def _object(event: ObjectEvent) -> bytes:
    """Encode the reference to the object."""
    resource = event.resource
    return b"".join(
        (
            _text(1, resource.kind),
            _text(2, event.about_namespace),
            _text(3, event.about),
            _text(4, event.uid),
            _text(5, resource.api_version),
            _text(6, event.version),
            _text(7, event.field),
        )
    )


def _words(event: ObjectEvent) -> bytes:
    """Encode all but the metadata and the object, which many Events have in common."""
    words = event.type, event.reason, event.message, event.component
    return _common(words, event.first_second, event.second, event.count)


def _owned(event: ObjectEvent, manager: str) -> bytes:
    words = {"type": event.type, "reason": event.reason, "message": event.message}
    absent = tuple(name for name, text in words.items() if not text)
    return _managed_fields(manager, event.second, absent)


@lru_cache(maxsize=_REMEMBERED)
def _common(words: tuple[str, str, str, str], first: int, last: int, count: int) -> bytes:
    kind, reason, message, component = words
    return b"".join(
        (
            _text(3, reason),
            _text(4, message),
            sized(_SIZED[5], _text(1, component) + _EMPTY[2]),
            sized(_SIZED[6], _time(first)),
            sized(_SIZED[7], _time(last)),
            _COUNT + varint(count),
            _text(9, kind),
            _EMPTY[10],
            _EMPTY[12],
            _text(14, component),
            _EMPTY[15],
        )
    )


@lru_cache(maxsize=_REMEMBERED)
def _managed_fields(manager: str, second: int, absent: tuple[str, ...]) -> bytes:
    """Encode the entry that says that a manager has written the fields that are there."""
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
