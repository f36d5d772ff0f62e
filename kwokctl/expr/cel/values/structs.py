"""Structs of Kubernetes: how their fields are read, and what they are as values of their own.

Where the type of a value is known they are the dictionaries that the API has, and the code that is written
for an expression knows what is in them. Else they are a `StructValue` or a `ResourceList`.
"""

from base64 import b64decode
from collections.abc import Mapping

from kwokctl.expr.cel.cel_errors import CelValueError
from kwokctl.expr.cel.cel_types import CelType
from kwokctl.expr.cel.values.cel_times import ZERO, CelDuration, CelTime, parse_instant, parse_span
from kwokctl.expr.cel.values.quantities import NOTHING, CelQuantity, parse_quantity
from kwokctl.json_value import Json


class StructValue:
    """A struct of Kubernetes: for an expression that does not know what it is, it has no fields."""

    __slots__ = ("fields", "type")

    def __init__(self, type_: CelType, fields: Mapping[str, Json]) -> None:
        self.type = type_
        self.fields = fields

    def get(self, name: str) -> Json:
        """Return a field, for code that knows the type and expects a dictionary."""
        return self.fields.get(name)

    def __eq__(self, other: object) -> bool:
        """Return whether the other is of the same type and has the same in each field."""
        return (
            isinstance(other, StructValue)
            and self.type == other.type
            and _given(self.fields) == _given(other.fields)
        )

    def __hash__(self) -> int:
        return hash(self.type.name)


class ResourceList:
    """Quantities by the names of resources; absent ones are 0."""

    __slots__ = ("amounts",)

    def __init__(self, amounts: Mapping[str, Json]) -> None:
        self.amounts = amounts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ResourceList) and self.read() == other.read()

    def __hash__(self) -> int:
        return hash(frozenset(self.amounts))

    def read(self) -> dict[str, CelQuantity]:
        """Return the quantities."""
        return {name: amount(self.amounts, name) for name in self.amounts}


def amount(amounts: Mapping[str, Json], name: object) -> CelQuantity:
    """Return a quantity of a resource list, 0 if it is not there."""
    if type(name) is not str:
        raise CelValueError("the name of a resource must be a string")
    found = amounts.get(name)
    return NOTHING if found is None else quantity(found)


def quantity(found: Json) -> CelQuantity:
    """Return a quantity as the API has it: a text, or a plain number."""
    return NOTHING if found is None else parse_quantity(found if type(found) is str else str(found))


def _given(fields: Mapping[str, Json]) -> dict[str, Json]:
    """Leave out the values that Go treats as absent, in nested structs too."""
    return {
        name: _given(value) if isinstance(value, dict) else value
        for name, value in fields.items()
        if value or isinstance(value, dict | list)
    }


def is_set(fields: Mapping[str, Json] | None) -> bool:
    """Return whether a struct that is no pointer has anything in it, as Go sees it."""
    return any(
        is_set(value) if isinstance(value, dict) else bool(value) or isinstance(value, list)
        for value in (fields or {}).values()
    )


_NO_TIME = CelDuration(0)


def time_of(text: str | None) -> CelTime:
    """Return a time."""
    return ZERO if text is None else parse_instant(text)


def duration_of(text: str | None) -> CelDuration:
    """Return a duration."""
    return _NO_TIME if text is None else parse_span(text)


def quantity_if_any(text: str | None) -> CelQuantity | None:
    """Return a quantity, or null."""
    return None if text is None else quantity(text)


def bytes_of(text: str | None) -> bytes:
    """Return bytes."""
    return b64decode(text or "")
