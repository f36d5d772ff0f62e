"""Encodes JSON as protocol buffers of built-in types, and reports values that do not fit a type.

The API server reads etcd without validation, and a value that it cannot decode breaks every list of
its kind. So an unknown field is an error, although the API server would skip some of them.
The bytes are those of the API server: fields in the order of their numbers, maps in that of their keys,
and every field that cannot be absent.
"""

from collections.abc import Iterator, Mapping

from kwokctl.config.nearest import did_you_mean
from kwokctl.dataplane.objects.api_types import ApiField, ApiType, Many, api_type
from kwokctl.dataplane.objects.scalars import SCALAR
from kwokctl.errors import ConfigError
from kwokctl.etcd.protobuf import LENGTH, VARINT, sized, tag
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
