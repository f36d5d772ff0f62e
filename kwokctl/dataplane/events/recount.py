"""Changes the count and the last time of a stored Event."""

from collections.abc import Iterator, Mapping

from kwokctl.dataplane.copies import message_template
from kwokctl.dataplane.copies.protobuf_stamp import PREFIX
from kwokctl.etcd.protobuf import LENGTH, VARINT, fields, mark, sized, tag, varint

_RAW = mark(2, LENGTH)
"""The tag of the object in a runtime.Unknown of Kubernetes."""
_LAST, _COUNT = mark(7, LENGTH), mark(8, VARINT)
"""Tags of fields of an Event."""


def recounted(stored: bytes, count: int, second: int) -> bytes | None:
    """Return a stored Event with another count and last time; None if it is not encoded as expected."""
    changed = {
        _LAST: sized(tag(7, LENGTH), message_template.time(second)),
        _COUNT: tag(8, VARINT) + varint(count),
    }
    head, end = len(PREFIX), len(stored)
    if not stored.startswith(PREFIX):
        return None
    found = [stored[at:stop] for key, at, stop in fields(stored, head, end) if key == _RAW]
    if not found:
        return None
    event = found[0]
    raw = sized(tag(2, LENGTH), b"".join(_replaced(event, 0, len(event), changed)))
    return PREFIX + b"".join(_replaced(stored, head, end, {_RAW: raw}))


def _replaced(data: bytes, at: int, end: int, changed: Mapping[int, bytes]) -> Iterator[bytes]:
    """Yield the fields of a message, with those of `changed` replaced."""
    for key, _, stop in fields(data, at, end):
        yield changed.get(key, data[at:stop])
        at = stop
