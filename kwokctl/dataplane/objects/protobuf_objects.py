"""Decodes protocol buffers of built-in types into JSON values, and encodes these; reports values that do not fit a type.

The API server reads etcd without validation, and a value that it cannot decode breaks every list of
its kind. So what is unknown to a type is refused, although the API server would skip some of it.
The bytes are those that the API server writes: fields by their numbers, maps by their keys, and every
field that cannot be absent. Equal parts of many similar objects are encoded once.
"""

from collections.abc import Iterator, Mapping

import msgspec
import orjson

from kwokctl.config.nearest import did_you_mean
from kwokctl.dataplane.objects.api_types import ApiField, ApiType, Many, api_type
from kwokctl.dataplane.objects.protobuf_scalars import SCALAR, Scalar
from kwokctl.errors import ConfigError
from kwokctl.etcd.protobuf import LENGTH, VARINT, fields, mark, sized, tag
from kwokctl.json_value import Json

_KEY, _VALUE = tag(1, LENGTH), tag(2, LENGTH)


class ShapeError(ConfigError):
    """A field's value does not fit its type."""

    def __init__(self, field: str, problem: str, *, hint: str | None = None) -> None:
        """Name the field by its path, such as `spec.containers[0].image`."""
        super().__init__(f"'{field}' {problem}" if field else problem, hint=hint)
        self.field = field


def encoded(of: ApiType, document: Json, place: str = "") -> bytes:
    """Encode a message; ShapeError if the document does not fit the type."""
    check(of, document, place)
    return b"".join(_fields(of, document, place))


def field_names(of: ApiType) -> Iterator[str]:
    """Yield the names of a type's fields in JSON."""
    for each in of.fields:
        if each.name:
            yield each.name
        else:
            yield from field_names(api_type(each.of))


def check(of: ApiType, document: Json, place: str) -> None:
    """Raise ShapeError unless a document is a mapping whose keys are all fields of a type."""
    if not isinstance(document, Mapping):
        raise ShapeError(place, "must be a mapping")
    known = list(field_names(of))
    for name in document:
        if name not in known:
            near = did_you_mean(str(name), known)
            raise ShapeError(
                f"{place}{_dot(place)}{name}", f"is not a field of {of.name}", hint=near
            )


def _fields(of: ApiType, document: Mapping[str, Json], place: str) -> Iterator[bytes]:
    for each in sorted(of.fields, key=lambda each: each.number):
        if each.name:
            yield written(each, document.get(each.name), f"{place}{_dot(place)}{each.name}")
        else:
            inner = b"".join(_fields(api_type(each.of), document, place))
            yield sized(tag(each.number, LENGTH), inner)


def written(each: ApiField, value: Json, place: str) -> bytes:
    """Encode a field with its value; `place` is the path for errors."""
    match each.many:
        case Many.ONE:
            return _always(each, value, place)
        case Many.MAYBE_ONE:
            return b"" if value is None else _tagged(each, value, place)
        case Many.LIST:
            items = enumerate(_demanded(list, value, place))
            return b"".join(_tagged(each, item, f"{place}[{n}]") for n, item in items)
        case Many.MAP:
            pairs = sorted(_demanded(dict, value, place).items())
            return b"".join(_entry(each, key, item, f"{place}.{key}") for key, item in pairs)


def _always(each: ApiField, value: Json, place: str) -> bytes:
    """Encode a field that is present even without a value; empty bytes are left out."""
    scalar = SCALAR.get(each.of)
    is_absent = value is None and scalar is not None and scalar.is_nullable
    return b"" if is_absent else _tagged(each, value, place)


def _tagged(each: ApiField, value: Json, place: str) -> bytes:
    """Encode a value after the tag of its field."""
    content = _content(each.of, value, place)
    if each.of in SCALAR and SCALAR[each.of].kind == VARINT:
        return tag(each.number, VARINT) + content
    return sized(tag(each.number, LENGTH), content)


def _entry(each: ApiField, key: str, value: Json, place: str) -> bytes:
    """Encode a field with one entry of a map."""
    content = _list(each.of, value, place) if each.are_lists else _content(each.of, value, place)
    pair = sized(_KEY, key.encode()) + sized(_VALUE, content)
    return sized(tag(each.number, LENGTH), pair)


def _list(of: str, value: Json, place: str) -> bytes:
    items = enumerate(_demanded(list, value, place))
    return b"".join(sized(_KEY, _content(of, item, f"{place}[{n}]")) for n, item in items)


def _content(of: str, value: Json, place: str) -> bytes:
    scalar = SCALAR.get(of)
    if scalar is None:
        return encoded(api_type(of), {} if value is None else value, place)
    given = scalar.zero if value is None else value
    try:
        return b"" if given is None else scalar.write(given)
    except ValueError as e:
        raise ShapeError(place, str(e)) from e


def _demanded(shape: type, value: Json, place: str) -> Json:
    """Return a list or a mapping; an empty one for None."""
    if value is None:
        return shape()
    if not isinstance(value, shape):
        raise ShapeError(place, "must be a list" if shape is list else "must be a mapping")
    return value


def _dot(place: str) -> str:
    return "." if place else ""


_Place = tuple[int, int]
"""The start of a value, or a number, and the end."""
_KEY_MARK, _VALUE_MARK = mark(1, LENGTH), mark(2, LENGTH)
_NOWHERE: _Place = (0, 0)


class ObjectDecoder(msgspec.Struct, frozen=True):
    """Decodes one object, and collects unknown fields."""

    data: bytes
    unknown: set[str] = msgspec.field(default_factory=set)
    """The numbers of fields that the table lacks, with their types."""

    def read(self, of: ApiType, at: int, end: int) -> dict[str, Json]:
        """Decode the message in `data[at:end]`; MessageError if it is invalid."""
        places: dict[int, list[_Place]] = {}
        for number, value, stop in fields(self.data, at, end):
            places.setdefault(number >> 3, []).append((value, stop))
        document: dict[str, Json] = {}
        for each in of.fields:
            document |= self._shown(each, places.pop(each.number, []))
        self.unknown.update(f"{number} of {of.name}" for number in places)
        return document

    def _shown(self, each: ApiField, places: list[_Place]) -> dict[str, Json]:
        """Return the part of the JSON that a field makes: empty if JSON leaves it out."""
        value = self._value(each, places)
        if not each.name:
            return value or {}
        if each.is_omitted and _is_empty(each, value):
            return {}
        return {each.name: value}

    def _value(self, each: ApiField, places: list[_Place]) -> Json:
        match each.many:
            case Many.ONE:
                return self._one(each.of, places[-1]) if places else self._zero(each.of)
            case Many.MAYBE_ONE:
                return self._one(each.of, places[-1]) if places else None
            case Many.LIST:
                return [self._one(each.of, place) for place in places] or None
            case Many.MAP:
                return dict(sorted(self._pairs(each, places))) or None

    def _pairs(self, each: ApiField, places: list[_Place]) -> Iterator[tuple[str, Json]]:
        for at, end in places:
            found = {number: (start, stop) for number, start, stop in fields(self.data, at, end)}
            key: str = self._one("str", found.get(_KEY_MARK, _NOWHERE))
            value = found.get(_VALUE_MARK, _NOWHERE)
            yield key, self._list(each.of, value) if each.are_lists else self._one(each.of, value)

    def _list(self, of: str, place: _Place) -> list[Json]:
        return [self._one(of, (start, stop)) for _, start, stop in fields(self.data, *place)]

    def _one(self, of: str, place: _Place) -> Json:
        scalar = SCALAR.get(of)
        return scalar.read(self.data, *place) if scalar else self.read(api_type(of), *place)

    def _zero(self, of: str) -> Json:
        scalar = SCALAR.get(of)
        return scalar.zero if scalar else self.read(api_type(of), 0, 0)


def _is_empty(each: ApiField, value: Json) -> bool:
    """Return whether Go's `omitempty` leaves a value out: never a struct."""
    if each.many is not Many.ONE:
        return value is None
    scalar: Scalar | None = SCALAR.get(each.of)
    if scalar is None or (scalar.is_struct and not each.is_zero_omitted):
        return False
    return bool(value == scalar.zero)


_MOST_PARTS = 4_000
"""The most parts that are cached."""


class RepeatedParts:
    """Caches encoded fields of specs, statuses and metadata."""

    def __init__(self) -> None:
        """Begin without any."""
        self._parts: dict[tuple[str, str, bytes], bytes] = {}

    def encoded(self, of: ApiType, document: Json) -> bytes:
        """Encode a message like `encoding.encoded`; ShapeError if the document does not fit the type."""
        return b"".join(self._message(of, document, ""))

    def _message(self, of: ApiType, document: Json, place: str) -> Iterator[bytes]:
        check(of, document, place)
        for each in sorted(of.fields, key=lambda each: each.number):
            value = document.get(each.name)
            if not place and _is_message(each) and isinstance(value, Mapping):
                inner = b"".join(self._message(api_type(each.of), value, each.name))
                yield sized(tag(each.number, LENGTH), inner)
            else:
                yield self._field(of, each, value, f"{place}.{each.name}".lstrip("."))

    def _field(self, of: ApiType, each: ApiField, value: Json, place: str) -> bytes:
        if not isinstance(value, (dict, list)):
            return written(each, value, place)
        key = (of.name, each.name, orjson.dumps(value))
        if key not in self._parts:
            if len(self._parts) >= _MOST_PARTS:
                self._parts.clear()
            self._parts[key] = written(each, value, place)
        return self._parts[key]


def _is_message(each: ApiField) -> bool:
    return each.many in (Many.ONE, Many.MAYBE_ONE) and each.of not in SCALAR
