"""Values of templates: fields, truth, order and equality, as Go has them.

Decided on purpose: a null is as nothing at all. `.null.x` is `<no value>`, as `.missing.x` is in Go.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeGuard

from kwokctl.expr.gotemplate.go.go_types import NIL, Byte, Number, StringMap, exact, type_name
from kwokctl.expr.gotemplate.go.methods import METHODS, Method
from kwokctl.expr.gotemplate.template_error import TemplateError
from kwokctl.json_value import Json

_MOST = 1_000_000


def field(value: object, name: str) -> object:
    """Return a field of a map, or what a method without arguments gives.

    None means that the field is missing; a field of None is None.
    """
    if isinstance(value, Mapping):
        return value.get(name)
    if value is None:
        return None
    return method(value, name)


def object_field(value: object, name: str) -> object:
    """Return a field of what may be a value of the object as it came."""
    return field(exact(value) if isinstance(value, int | float) else value, name)


def method(value: object, name: str, *arguments: object) -> object:
    """Call a method; raise Fault if the value has none of that name."""
    found = _method(value, name)
    if found is None:
        raise TemplateError(f"there is no field or method '{name}' in {kind(value)}")
    try:
        return found(value, *arguments)
    except (TypeError, ValueError, OverflowError) as e:
        raise TemplateError(f"'{name}' of {kind(value)}: {e}") from e


def _method(value: object, name: str) -> Method | None:
    for python, methods in METHODS:
        if isinstance(value, python):
            return methods.get(name)
    return None


def no_function(value: object, *arguments: object) -> object:
    """Return a value in place of a function; raise Fault if it is given arguments."""
    if arguments:
        raise TemplateError(f"{kind(value)} is not a function, and takes no arguments")
    return value


def kind(value: object) -> str:
    """Return the name of the value in an error."""
    if value is None:
        return "a missing value"
    if isinstance(value, bool):
        return f"the boolean {str(value).lower()}"
    if isinstance(value, str):
        quotes = "" if isinstance(value, Number) else "'"
        return f"the {'number of the object' if not quotes else 'text'} {quotes}{value}{quotes}"
    if isinstance(value, int | float):
        return f"the number {value}"
    if isinstance(value, Mapping):
        return "a map"
    return "a list" if isinstance(value, Sequence) else f"a {type_name(value)}"


def is_list(value: object) -> TypeGuard[Sequence[object]]:
    """Return whether the value is a list, in any form Python has."""
    usual = type(value)
    if usual is list or usual is str or usual is dict:
        return usual is list
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def items(value: object) -> Iterable[object]:
    """Return what `range` with at most one variable iterates over; a map is sorted by keys."""
    if value is None or is_list(value):
        return value or ()
    if isinstance(value, Mapping):
        return [value[key] for key in sorted(value)]
    if isinstance(value, int) and not isinstance(value, bool):
        if value > _MOST:
            raise TemplateError(f"'range' over {kind(value)} would take too long")
        return list(map(type(value), range(value)))
    if isinstance(value, Iterator):
        return list(value)
    raise TemplateError(f"'range' cannot iterate over {kind(value)}")


def pairs(value: object) -> Iterable[tuple[object, object]]:
    """Return what `range` with two variables iterates over: index or key, and value."""
    if isinstance(value, Mapping):
        return [(key, value[key]) for key in sorted(value)]
    if isinstance(value, int) and not isinstance(value, bool):
        raise TemplateError("'range' over a number has one variable only")
    return list(enumerate(items(value)))


def object_items(value: object) -> Iterable[object]:
    """Return what `items` does for what may be a value of the object as it came."""
    return items(_contained(value))


def object_pairs(value: object) -> Iterable[tuple[object, object]]:
    """Return what `pairs` does for what may be a value of the object as it came."""
    return pairs(_contained(value))


def _contained(value: object) -> object:
    return value if isinstance(value, dict | list) else exact(value)


def equal(first: object, *others: object) -> bool:
    """Return whether the first value equals any of the others: `eq`."""
    if not others:
        raise TemplateError("'eq' needs two values")
    for other in others:  # noqa: SIM110 - `any` costs a generator
        if _same(first, other):
            return True
    return False


def unequal(first: object, second: object) -> bool:
    """Return whether two values differ: `ne`."""
    return not _same(first, second)


def _same(first: object, second: object) -> bool:
    if type(first) is type(second) is str:
        return bool(first == second)
    if first is None or second is None:
        return first is second or isinstance(first or second, NIL)
    if _class(first) is not _class(second) or _class(first) is _MANY:
        raise TemplateError(f"{kind(first)} and {kind(second)} cannot be compared")
    return bool(first == second)


def _class(value: object) -> type:
    """Return the class of values that can be compared with this one."""
    for python in (str, bool, int, float):
        if isinstance(value, python):
            return python
    return _MANY if isinstance(value, Mapping) or is_list(value) else type(value)


_MANY = Mapping


def ordering(test: Callable[[Json, Json], bool]) -> Callable[[Json, Json], bool]:
    """Return `lt` and its like, made from Python's operator."""

    def compare(first: Json, second: Json) -> bool:
        same = _class(first)
        if same not in {str, int, float} or same is not _class(second):
            raise TemplateError(f"{kind(first)} and {kind(second)} have no order")
        if same is str:
            return test(first.encode(), second.encode())
        return test(first, second)

    return compare


def index(value: object, *keys: object) -> object:
    """Return the item that the keys lead to, one after the other; a missing key gives None."""
    if value is None:
        raise TemplateError(f"{kind(None)} has no items")
    for key in keys:
        value = _item(value, key)
    return value


def object_index(value: object, *keys: object) -> object:
    """Return what `index` does for what may be a value of the object as it came."""
    if value is None:
        raise TemplateError(f"{kind(None)} has no items")
    for key in keys:
        if type(value) is dict and type(key) is str:
            value = value.get(key)
        else:
            value = _item(_contained(value), key)
    return value


def _item(value: object, key: object) -> object:
    if type(value) is list:
        return value[_position(key, len(value) - 1)]
    if isinstance(value, Mapping):
        if type(key) is not str:
            raise TemplateError(f"{kind(key)} cannot be the key of a map")
        return value.get(key, "" if isinstance(value, StringMap) else None)
    if isinstance(value, str):
        data = value.encode()
        return Byte(data[_position(key, len(data) - 1)])
    if is_list(value):
        return value[_position(key, len(value) - 1)]
    raise TemplateError(f"{kind(value)} has no items")


def _position(key: object, last: int) -> int:
    if not isinstance(key, int) or isinstance(key, bool):
        raise TemplateError(f"{kind(key)} cannot be the index of an item")
    if not 0 <= key <= last:
        raise TemplateError(f"the index {key} is out of range")
    return key


def length(value: object) -> int:
    """Return how many items, or bytes of UTF-8, there are: `len`."""
    if isinstance(value, str):
        return len(value.encode())
    if isinstance(value, Mapping) or is_list(value):
        return len(value)
    raise TemplateError(f"{kind(value)} has no length")


def call(function: object, *arguments: object) -> object:
    """Call a value that is a function."""
    if not callable(function):
        raise TemplateError(f"{kind(function)} is not a function")
    return function(*arguments)
