"""Splits messages of protocol buffers without knowing their types.

The wire format is that of https://protobuf.dev/programming-guides/encoding/.
"""

from collections.abc import Callable, Iterator

import msgspec

from kwokctl.dataplane.copies.variable_fields import ValueSource
from kwokctl.etcd.protobuf import varint

_VARINT, _FIXED64, _SIZED, _FIXED32 = 0, 1, 2, 5
_FIXED = {_FIXED64: 8, _FIXED32: 4}
_SECONDS, _NANOS = b"\x08", b"\x10"
"""The tags of the fields of a time."""


class NoMessageError(ValueError):
    """The bytes are not a message."""


class MessageField(msgspec.Struct, frozen=True):
    """A field of a message, by offsets."""

    number: int
    start: int
    content: int
    end: int
    is_sized: bool
    """Whether the content is a string or a message, and so has its size before it."""


class ContentPlace(msgspec.Struct, frozen=True):
    """A place whose content, of any size, follows its size."""

    source: ValueSource


class Message(msgspec.Struct, frozen=True):
    """A message with places in it, which follows its own size."""

    parts: tuple["Part", ...]

    def places(self) -> Iterator[ContentPlace]:
        """Yield the places, including those of messages within it."""
        for part in self.parts:
            if isinstance(part, Message):
                yield from part.places()
            elif isinstance(part, ContentPlace):
                yield part


Part = bytes | ContentPlace | Message


def apart(data: bytes, source_of: Callable[[bytes], ValueSource | None]) -> Message:
    """Split a message at each content for which `source_of` returns a source.

    Raises NoMessageError if it is not a message. Bytes that only look like a message count as one.
    """
    parts: list[Part] = []
    for field in fields(data):
        content = data[field.content : field.end]
        part = _part(content, source_of) if field.is_sized else None
        if part is None:
            parts.append(data[field.start : field.end])
        else:
            key, _ = number_at(data, field.start)
            parts += [varint(key), part]
    return Message(tuple(parts))


def _part(content: bytes, source_of: Callable[[bytes], ValueSource | None]) -> Part | None:
    """Return the content of a field if it is a place or contains places, else None."""
    source = source_of(content)
    if source is not None:
        return ContentPlace(source)
    try:
        message = apart(content, source_of)
    except NoMessageError:
        return None
    return message if any(message.places()) else None


def fields(data: bytes) -> Iterator[MessageField]:
    """Yield the fields of a message; raise NoMessageError as soon as it proves not to be one."""
    at = 0
    while at < len(data):
        key, content = number_at(data, at)
        kind = key & 7
        if kind == _VARINT:
            _, end = number_at(data, content)
        elif kind == _SIZED:
            size, content = number_at(data, content)
            end = content + size
        elif kind in _FIXED:
            end = content + _FIXED[kind]
        else:
            raise NoMessageError
        if not key >> 3 or end > len(data):
            raise NoMessageError
        yield MessageField(key >> 3, at, content, end, kind == _SIZED)
        at = end


def number_at(data: bytes, at: int) -> tuple[int, int]:
    """Return the number that is encoded at an offset, and where it ends."""
    value = shift = 0
    while at < len(data) and shift < 64:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
    raise NoMessageError


def time(seconds: int) -> bytes:
    """Encode a time in seconds since 1970, as Kubernetes does."""
    return b"".join((_SECONDS, varint(seconds), _NANOS, varint(0)))


def seconds_of(content: bytes) -> int | None:
    """Return the seconds of a time, None if the content is not a time."""
    try:
        seconds, nanos = number_at(content, 1)
        _, end = number_at(content, nanos + 1)
    except NoMessageError:
        return None
    is_time = content[:1] == _SECONDS and content[nanos : nanos + 1] == _NANOS
    return seconds if is_time and end == len(content) else None
