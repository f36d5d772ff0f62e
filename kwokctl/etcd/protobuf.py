"""Encodes and decodes protocol buffers (https://protobuf.dev/programming-guides/encoding/).

Only numbers that are not negative, and what has a length; that is all that etcd's messages need.
"""

from collections.abc import Iterator

_SMALL = [bytes((n,)) for n in range(128)]

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
"""The wire types of fields."""

Field = tuple[int, int, int]
"""A field's mark; its value if that is a number, else where its bytes begin; where it ends."""


class MessageError(ValueError):
    """Bytes are not the message that they should be."""


def varint(number: int) -> bytes:
    """Encode a number that is not negative, seven bits a byte, the lowest first."""
    if number < 0x80:
        return _SMALL[number]
    if number < 0x4000:
        return bytes((number & 0x7F | 0x80, number >> 7))
    if number < 0x200000:
        return bytes((number & 0x7F | 0x80, number >> 7 & 0x7F | 0x80, number >> 14))
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def mark(number: int, kind: int) -> int:
    """Return the tag of a field."""
    return number << 3 | kind


def tag(number: int, kind: int) -> bytes:
    """Encode a field's mark."""
    return varint(mark(number, kind))


def sized(head: bytes, content: bytes) -> bytes:
    """Encode a field that has a length: text, bytes or a message; `head` is its tag."""
    size = len(content)
    return head + (_SMALL[size] if size < 0x80 else varint(size)) + content


def fields(data: bytes, at: int, end: int) -> Iterator[Field]:
    """Walk through the fields of the message in `data[at:end]`.

    Numbers of 64 bits come as unsigned ones. Fixed-width fields are skipped: no caller needs them.
    Raises MessageError for what is cut or no message.
    """
    try:
        while at < end:
            key = data[at]
            at += 1
            if key >= 0x80:
                key, at = _long(data, at, key)
            kind = key & 7
            value = data[at]
            if kind == LENGTH:
                at += 1
                if value >= 0x80:
                    value, at = _long(data, at, value)
                value, at = at, at + value
            elif kind == VARINT:
                at += 1
                if value >= 0x80:
                    value, at = _long(data, at, value)
            else:
                at += _width(kind)
                continue
            if at > end:
                break
            yield key, value, at
    except IndexError:
        raise MessageError("a message is truncated") from None
    if at > end:
        raise MessageError("a message is truncated")


def _width(kind: int) -> int:
    if kind not in (FIXED64, FIXED32):
        raise MessageError(f"there are no fields of kind {kind}")
    return 8 if kind == FIXED64 else 4


def _long(data: bytes, at: int, value: int) -> tuple[int, int]:
    """Read on a number whose first byte was `value`; return it and where it ends."""
    value &= 0x7F
    shift = 7
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise MessageError("a number is too long")
