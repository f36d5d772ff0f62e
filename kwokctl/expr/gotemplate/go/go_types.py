"""Go's types that Python does not have: https://go.dev/ref/spec#Types.

A template works with values of Go's types. The values of an object are those of a JSON decoder;
its numbers are of the type `json.Number`, which is a string in all but name, since kwok decodes
objects so (https://pkg.go.dev/encoding/json#Decoder.UseNumber). An object comes with numbers of
Python's, though, and most of its numbers are never looked at: `exact` converts a value when it is
first used in a way that shows its type.
"""

from collections.abc import Mapping, Sequence

from kwokctl.expr.gotemplate.go.numerals import json_number
from kwokctl.json_value import Json

_LARGEST = 2**63


class Number(str):
    """A number of the object: `json.Number`, a text with the kind `string`."""

    __slots__ = ()


class Int64(int):
    """The results of Sprig's arithmetic: `int64`."""

    __slots__ = ()


class Byte(int):
    """A byte of a text: `uint8`."""

    __slots__ = ()


class UntypedConstant(float):
    """A constant of the template such as `2.0`, given to what takes whole numbers."""

    __slots__ = ()

    def is_integer(self) -> bool:
        """Return whether it can be used as a whole number."""
        return float.is_integer(self) and abs(self) < _LARGEST


class Real(float):
    """The result of a method of a number: `float64`, and not another number of the object."""

    __slots__ = ()


class Strings(list[str]):
    """`[]string`."""

    __slots__ = ()


class Ints(list[int]):
    """`[]int`."""

    __slots__ = ()


class Lists(list[list[object]]):
    """`[][]interface {}`."""

    __slots__ = ()


class NilList(list[object]):
    """A `[]interface {}` that is nil: empty, but `null` in JSON."""

    __slots__ = ()


class NilStrings(Strings):
    """A `[]string` that is nil."""

    __slots__ = ()


class StringMap(dict[str, str]):
    """`map[string]string`."""

    __slots__ = ()


NIL = (NilList, NilStrings)
"""The lists that are nil."""

_NAMES: tuple[tuple[type, str, str], ...] = (
    (bool, "bool", "bool"),
    (Int64, "int64", "int64"),
    (Byte, "uint8", "uint8"),
    (int, "int", "int"),
    (float, "float64", "float64"),
    (Number, "json.Number", "string"),
    (str, "string", "string"),
    (StringMap, "map[string]string", "map"),
    (Mapping, "map[string]interface {}", "map"),
    (Strings, "[]string", "slice"),
    (Ints, "[]int", "slice"),
    (Lists, "[][]interface {}", "slice"),
    (Sequence, "[]interface {}", "slice"),
)


def type_name(value: object) -> str:
    """Return the name of the Go type: what `%T` writes."""
    if value is None:
        return "<nil>"
    return _names(value)[0]


def kind_name(value: object) -> str:
    """Return the name of the type's kind, `invalid` for nothing."""
    if value is None:
        return "invalid"
    return _names(value)[1]


def _names(value: object) -> tuple[str, str]:
    named: tuple[str, str] | None = getattr(value, "go_type", None)
    if named is not None:
        return named
    for python, name, kind in _NAMES:
        if isinstance(value, python):
            return name, kind
    return type(value).__name__, "func" if callable(value) else "struct"


def exact(value: Json) -> object:
    """Return a value of the object as Go has it: numbers are `Number`, maps and lists are copies."""
    python = type(value)
    if python is str or python is bool or value is None:
        return value
    if python is int or python is float:
        return Number(json_number(value))
    if python is dict:
        return {k: v if type(v) is str else exact(v) for k, v in value.items()}
    if python is list:
        return [v if type(v) is str else exact(v) for v in value]
    return _exact_other(value)


def _exact_other(value: object) -> object:
    """Convert what is neither JSON as Python reads it nor of one of the types above."""
    if type(value) in _EXACT or hasattr(value, "go_type"):
        return value
    if isinstance(value, Mapping):
        return {str(k): exact(v) for k, v in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [exact(v) for v in value]
    return value


_EXACT = frozenset(
    {
        Number,
        Int64,
        Byte,
        UntypedConstant,
        Real,
        Strings,
        Ints,
        Lists,
        NilList,
        NilStrings,
        StringMap,
    }
)
