"""Types of single values, with their forms in JSON and in protocol buffers.

The forms of times, quantities and raw JSON are those of `k8s.io/apimachinery` (`time_proto.go`,
`quantity_proto.go`, `generated.proto`).
"""

import base64
import binascii
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

import msgspec

from kwokctl.etcd.protobuf import LENGTH, VARINT, MessageError, fields, mark, sized, tag, varint
from kwokctl.json_value import Json
from kwokctl.kube.statuses.leaves import Leaf, Quantity, Time

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_64 = 2**64
_FIRST, _SECOND, _THIRD = (tag(n, VARINT) for n in (1, 2, 3))
_FIRST_TEXT, _THIRD_TEXT = (tag(n, LENGTH) for n in (1, 3))
_SECONDS_MARK, _NANOS_MARK = mark(1, VARINT), mark(2, VARINT)
_CONTENT_MARK = mark(1, LENGTH)
_NUMBER_MARK, _TEXT_MARK = mark(2, VARINT), mark(3, LENGTH)


class Scalar(msgspec.Struct, frozen=True, kw_only=True):
    """A type of single values."""

    zero: Json
    """The JSON of a required field without a value."""
    read: Callable[[bytes, int, int], Json]
    """Decodes a value, given the message, the start of the value or a number, and the end."""
    write: Callable[[Json], bytes]
    """Encodes a value; ValueError says what JSON must have."""
    kind: int = LENGTH
    is_struct: bool = False
    """Whether it is a struct in Go, which `omitempty` never leaves out."""
    is_nullable: bool = False
    """Whether protocol buffers leave it out if it has no value."""


def _demand(condition: object, what: str) -> None:
    if not condition:
        raise ValueError(f"must be {what}")


def _signed(_data: bytes, value: int, _end: int) -> int:
    return value - _64 if value >= _64 // 2 else value


def _integer(bits: int) -> Callable[[Json], bytes]:
    least, most = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1

    def write(value: Json) -> bytes:
        fits = type(value) is int and least <= value <= most
        _demand(fits, f"a whole number of {bits} bits")
        return varint(value % _64)

    return write


def _switch(value: Json) -> bytes:
    _demand(isinstance(value, bool), "true or false")
    return varint(value)


def _text(value: Json) -> bytes:
    _demand(isinstance(value, str), "a string")
    encoded: bytes = value.encode()
    return encoded


def _read_text(data: bytes, at: int, end: int) -> str:
    return data[at:end].decode(errors="replace")


def _read_bytes(data: bytes, at: int, end: int) -> str:
    return base64.b64encode(data[at:end]).decode()


def _bytes(value: Json) -> bytes:
    try:
        return base64.b64decode(_text(value), validate=True)
    except binascii.Error:
        raise ValueError("must be base64") from None


def _accepted(leaf: type[Leaf], value: Json) -> str:
    _demand(isinstance(value, str) and leaf.accepts(value), leaf.article)
    text: str = value
    return text


def _read_time(data: bytes, at: int, end: int) -> str | None:
    return _moment(data, at, end, "%Y-%m-%dT%H:%M:%SZ")


def _read_micro_time(data: bytes, at: int, end: int) -> str | None:
    return _moment(data, at, end, "%Y-%m-%dT%H:%M:%S.%fZ")


def _moment(data: bytes, at: int, end: int, form: str) -> str | None:
    if at == end:
        return None
    found = {number: value for number, value, _ in fields(data, at, end)}
    seconds = _signed(b"", found.get(_SECONDS_MARK, 0), 0)
    try:
        passed = timedelta(seconds=seconds, microseconds=found.get(_NANOS_MARK, 0) // 1000)
        moment = _EPOCH + passed
    except OverflowError as e:
        raise MessageError(f"there is no time {seconds} seconds after 1970") from e
    # glibc formats years before 1000 with fewer digits.
    return moment.strftime(form.replace("%Y", f"{moment.year:04}"))


def _time(value: Json) -> bytes:
    seconds, _ = _since_epoch(value)
    return _FIRST + varint(seconds % _64) + _SECOND + varint(0)


def _micro_time(value: Json) -> bytes:
    seconds, micros = _since_epoch(value)
    return _FIRST + varint(seconds % _64) + _SECOND + varint(micros * 1000)


def _since_epoch(value: Json) -> tuple[int, int]:
    passed = datetime.fromisoformat(_accepted(Time, value)) - _EPOCH
    return passed // timedelta(seconds=1), passed.microseconds


def _content(data: bytes, at: int, end: int) -> bytes:
    """Return the bytes of a message's only field."""
    for number, start, stop in fields(data, at, end):
        if number == _CONTENT_MARK:
            return data[start:stop]
    return b""


def _read_quantity(data: bytes, at: int, end: int) -> str:
    return _content(data, at, end).decode(errors="replace") or "0"


def _quantity(value: Json) -> bytes:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    text = json.dumps(value) if is_number else value
    return sized(_FIRST_TEXT, _accepted(Quantity, text).encode())


def _read_int_or_string(data: bytes, at: int, end: int) -> Json:
    found = {number: (value, stop) for number, value, stop in fields(data, at, end)}
    if found.get(_SECONDS_MARK, (0, 0))[0]:
        return _read_text(data, *found.get(_TEXT_MARK, (0, 0)))
    return _signed(b"", found.get(_NUMBER_MARK, (0, 0))[0], 0)


def _int_or_string(value: Json) -> bytes:
    is_text = isinstance(value, str)
    number = varint(0) if is_text else _integer(32)(value)
    text = sized(_THIRD_TEXT, value.encode() if is_text else b"")
    return _FIRST + varint(is_text) + _SECOND + number + text


def _read_raw(data: bytes, at: int, end: int) -> Json:
    content = _content(data, at, end)
    try:
        return json.loads(content) if content else None
    except ValueError as e:
        raise MessageError("a field that must hold JSON does not") from e


def _raw(value: Json) -> bytes:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return sized(_FIRST_TEXT, text.encode())


def _any(_value: Json) -> bytes:
    return b""  # only of kinds that are stored as JSON


def _float(value: Json) -> bytes:
    _demand(isinstance(value, int | float) and not isinstance(value, bool), "a number")
    return b""  # only of kinds that are stored as JSON


SCALAR: Mapping[str, Scalar] = {
    "str": Scalar(zero="", read=_read_text, write=_text),
    "bool": Scalar(zero=False, read=lambda _data, value, _end: value != 0, write=_switch, kind=VARINT),
    "int32": Scalar(zero=0, read=_signed, write=_integer(32), kind=VARINT),
    "int64": Scalar(zero=0, read=_signed, write=_integer(64), kind=VARINT),
    "float64": Scalar(zero=0, read=_read_text, write=_float),
    "bytes": Scalar(zero=None, read=_read_bytes, write=_bytes, is_nullable=True),
    "Time": Scalar(zero=None, read=_read_time, write=_time, is_struct=True),
    "MicroTime": Scalar(zero=None, read=_read_micro_time, write=_micro_time, is_struct=True),
    "Quantity": Scalar(zero="0", read=_read_quantity, write=_quantity, is_struct=True),
    "IntOrString": Scalar(zero=0, read=_read_int_or_string, write=_int_or_string, is_struct=True),
    "Raw": Scalar(zero=None, read=_read_raw, write=_raw, is_struct=True),
    "Any": Scalar(zero=None, read=_read_raw, write=_any),
}  # fmt: skip
"""The scalars by their names in the table of types."""
