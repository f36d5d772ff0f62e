"""What values are in a template: fields, truth, order and equality, as Go has them for JSON.

Decided on purpose, where Go itself gives a choice or kwok has an oddity:

- Numbers are numbers. kwok keeps the numbers of an object as texts, so that there `{{if .zero}}`
  holds and `{{eq .n 1}}` fails; here they do what everybody expects. Integers and floats compare.
- A null is as nothing at all: `.null.x` is `<no value>`, as `.missing.x` is in Go.
- `eq` with nothing on one side is false, as in Go; with values of different kinds it is an error.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any


class Fault(Exception):  # noqa: N818 - becomes an ExpressionError that tells the place
    """A run-time error of a template."""


def field(value: Any, name: str) -> Any:
    """Return the field of a mapping, None if there is none; a field of None is None."""
    if isinstance(value, Mapping):
        return value.get(name)
    if value is None:
        return None
    raise Fault(f"there is no field '{name}' in {kind(value)}")


def kind(value: Any) -> str:
    """Return what an error calls the value."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return f"the boolean {str(value).lower()}"
    if isinstance(value, int | float):
        return f"the number {value}"
    if isinstance(value, str):
        return f"the text '{value}'"
    if isinstance(value, Mapping):
        return "a map"
    return "a list" if isinstance(value, Sequence) else f"a {type(value).__name__}"


def type_name(value: Any) -> str:
    """Return the name of the Go type."""
    if value is None:
        return "<nil>"
    for python, name in _TYPES:
        if isinstance(value, python):
            return name
    return type(value).__name__


_TYPES: tuple[tuple[type, str], ...] = (
    (bool, "bool"),
    (int, "int"),
    (float, "float64"),
    (str, "string"),
    (Mapping, "map[string]interface {}"),
    (Sequence, "[]interface {}"),
)


def is_list(value: Any) -> bool:
    """Tell whether the value is a list, in any form Python has."""
    usual = type(value)
    if usual is list or usual is str or usual is dict:
        return usual is list
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def items(value: Any) -> Iterable[Any]:
    """Return what `range` with at most one variable goes through; a map goes by its keys."""
    if value is None or is_list(value):
        return value or ()
    if isinstance(value, Mapping):
        return [value[key] for key in sorted(value)]
    if isinstance(value, int) and not isinstance(value, bool):
        return range(max(value, 0))
    if isinstance(value, Iterator):
        return list(value)
    raise Fault(f"'range' cannot go through {kind(value)}")


def pairs(value: Any) -> Iterable[tuple[Any, Any]]:
    """Return what `range` with two variables goes through: index or key, and value."""
    if isinstance(value, Mapping):
        return [(key, value[key]) for key in sorted(value)]
    if isinstance(value, int) and not isinstance(value, bool):
        raise Fault("'range' over a number has one variable only")
    return list(enumerate(items(value)))


def equal(first: Any, *others: Any) -> bool:
    """Tell whether the first value equals any of the others: `eq`."""
    if not others:
        raise Fault("'eq' needs two values")
    return any(_same(first, other) for other in others)


def unequal(first: Any, second: Any) -> bool:
    """Tell whether two values differ: `ne`."""
    return not _same(first, second)


def _same(first: Any, second: Any) -> bool:
    if first is None or second is None:
        return first is second
    if _class(first, "equal") is not _class(second, "equal"):
        raise Fault(f"{kind(first)} and {kind(second)} cannot be compared")
    return bool(first == second)


def _class(value: Any, what: str) -> type:
    """Return the class of values that can be compared with this one."""
    for python in (str, bool, int, float):
        if isinstance(value, python):
            return int if python is float else python
    if what == "equal" and not isinstance(value, Mapping) and not is_list(value):
        return type(value)
    raise Fault(f"{kind(value)} cannot be compared")


def ordering(test: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """Return `lt` and its like, made from Python's operator."""

    def compare(first: Any, second: Any) -> bool:
        same = _class(first, "order")
        if same is bool or same is not _class(second, "order"):
            raise Fault(f"{kind(first)} and {kind(second)} have no order")
        if same is str:
            return test(first.encode(), second.encode())
        return test(first, second)

    return compare


def index(value: Any, *keys: Any) -> Any:
    """Return the item that the keys lead to, one after the other; a missing key gives None."""
    for key in keys:
        if isinstance(value, Mapping):
            if not isinstance(key, str):
                raise Fault(f"{kind(key)} cannot be the key of a map")
            value = value.get(key)
        elif isinstance(value, str):
            data = value.encode()
            value = data[_position(key, len(data) - 1)]
        elif is_list(value):
            value = value[_position(key, len(value) - 1)]
        else:
            raise Fault(f"{kind(value)} has no items")
    return value


def _position(key: Any, last: int) -> int:
    if not isinstance(key, int) or isinstance(key, bool):
        raise Fault(f"{kind(key)} cannot be the index of an item")
    if not 0 <= key <= last:
        raise Fault(f"the index {key} is out of range")
    return key


def cut(value: Any, *bounds: Any) -> Any:
    """Return a part of a list or, by bytes, of a text: `slice`."""
    if len(bounds) > 3:
        raise Fault("'slice' takes three bounds at most")
    data = value.encode() if isinstance(value, str) else value
    if not isinstance(value, str) and not is_list(value):
        raise Fault(f"{kind(value)} cannot be sliced")
    if isinstance(value, str) and len(bounds) == 3:
        raise Fault("'slice' of a text takes two bounds at most")
    positions = [_position(bound, len(data)) for bound in bounds]
    start, end = positions[0] if positions else 0, positions[1] if positions[1:] else len(data)
    if start > end or end > (positions[2] if positions[2:] else len(data)):
        raise Fault("the bounds of 'slice' are in the wrong order")
    part = data[start:end]
    return part.decode("utf-8", "replace") if isinstance(value, str) else part


def length(value: Any) -> int:
    """Return how many items, or bytes of UTF-8, there are: `len`."""
    if isinstance(value, str):
        return len(value.encode())
    if isinstance(value, Mapping) or is_list(value):
        return len(value)
    raise Fault(f"{kind(value)} has no length")


def call(function: Any, *arguments: Any) -> Any:
    """Call a value that is a function."""
    if not callable(function):
        raise Fault(f"{kind(function)} is not a function")
    return function(*arguments)
