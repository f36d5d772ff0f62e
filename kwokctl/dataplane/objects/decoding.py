"""Decodes protocol buffers of built-in types into the values that JSON has for them."""

from collections.abc import Iterator

import msgspec

from kwokctl.dataplane.objects.api_types import ApiField, ApiType, Many, api_type
from kwokctl.dataplane.objects.scalars import SCALAR, Scalar
from kwokctl.etcd.protobuf import LENGTH, fields, mark
from kwokctl.json_value import Json

_Place = tuple[int, int]
"""The start of a value, or a number, and the end."""
_KEY, _VALUE = mark(1, LENGTH), mark(2, LENGTH)
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
            key: str = self._one("str", found.get(_KEY, _NOWHERE))
            value = found.get(_VALUE, _NOWHERE)
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
