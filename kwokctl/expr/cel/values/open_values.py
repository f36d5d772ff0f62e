"""The operators on values whose types only the evaluation shows: equality, order, fields, items, logic."""

from collections.abc import Callable, Iterable
from functools import partial
from operator import ge, gt, le, lt

from kwokctl.expr.cel.cel_errors import CelValueError, no_overload
from kwokctl.expr.cel.values.arithmetic import GREATER, GREATER_EQUAL, LESS, LESS_EQUAL, Uint
from kwokctl.expr.cel.values.cel_times import CelDuration, CelTime
from kwokctl.expr.cel.values.quantities import CelQuantity
from kwokctl.expr.cel.values.structs import ResourceList, amount
from kwokctl.json_value import Json

NUMBERS = frozenset({int, Uint, float})
_ORDERED = frozenset({bool, str, bytes, CelTime, CelDuration, CelQuantity})
_STRICT = (CelQuantity, ResourceList)


def equal(a: Json, b: Json) -> bool:
    """Return whether two values are equal: numbers of all types by their numeric values."""
    one, other = type(a), type(b)
    if one in NUMBERS and other in NUMBERS:
        return bool(a == b)
    if one is not other:
        if one in _STRICT:
            raise no_overload("==")
        return False
    if one is list:
        return len(a) == len(b) and all(map(equal, a, b))
    if one is dict:
        return len(a) == len(b) and all(_has_same(b, key, value) for key, value in a.items())
    return bool(a == b)


def _has_same(whole: dict[Json, Json], key: Json, value: Json) -> bool:
    try:
        return equal(lookup(whole, key), value)
    except CelValueError:
        return False


def _compare(
    name: str, compare: Callable[[Json, Json], bool], numbers: Callable[[float, float], bool]
) -> Callable[[Json, Json], bool]:
    def function(a: Json, b: Json) -> bool:
        one, other = type(a), type(b)
        if one in NUMBERS and other in NUMBERS:
            return numbers(a, b)
        if one is other and one in _ORDERED:
            return bool(compare(a, b))
        raise no_overload(name)

    return function


ORDERS: dict[str, Callable[[Json, Json], bool]] = {
    "<": _compare("<", lt, LESS),
    "<=": _compare("<=", le, LESS_EQUAL),
    ">": _compare(">", gt, GREATER),
    ">=": _compare(">=", ge, GREATER_EQUAL),
}


def contained(item: Json, whole: Json) -> bool:
    """Return whether something is an item of a list, a key of a map, or a resource of a list of them."""
    if type(whole) is list:
        return any(map(partial(equal, item), whole))
    if type(whole) is dict:
        return _key(whole, item) is not None
    if type(whole) is ResourceList and type(item) is str:
        return item in whole.amounts
    raise no_overload("in")


def lookup(whole: Json, key: Json) -> Json:
    """Return the item of a list, or what a map has under a key; raise CelValueError if there is none."""
    if type(whole) is dict:
        found = _key(whole, key)
        if found is None:
            raise CelValueError(f"there is no key {_shown(key)}")
        return whole[found[0]]
    if type(whole) is list:
        return whole[_position(key, len(whole))]
    if type(whole) is ResourceList:
        return amount(whole.amounts, key)
    raise no_overload("[]")


def _key(whole: dict[Json, Json], key: Json) -> tuple[Json] | None:
    """Find a key, which a number of another type may be equal to."""
    if type(key) is str:
        return (key,) if key in whole else None
    return next(((found,) for found in whole if equal(key, found)), None)


def _position(index: Json, length: int) -> int:
    if type(index) not in NUMBERS:
        raise CelValueError("the index of a list must be an integer")
    if isinstance(index, float) and not index.is_integer():
        raise CelValueError("the index of a list must be an integer")
    if not 0 <= index < length:
        raise CelValueError(f"there is no item {int(index)} in a list of {length}")
    return int(index)


def _shown(key: Json) -> str:
    return f"'{key}'" if isinstance(key, str) else str(key).lower()


def select(value: Json, name: str) -> Json:
    """Return a field of a map; raise CelValueError if it has none of that name."""
    if type(value) is dict and name in value:
        return value[name]
    if type(value) is ResourceList:
        return amount(value.amounts, name)
    if type(value) is list:
        raise CelValueError(f"a list has no field '{name}'")
    raise CelValueError(f"there is no field '{name}'")


def has(value: Json, name: str) -> bool:
    """Return whether a map has a field: an error for lists, true for every resource of a list of them."""
    if type(value) is list:
        raise CelValueError(f"a list has no field '{name}'")
    return type(value) is ResourceList or (type(value) is dict and name in value)


def known(value: Json, name: str) -> Json:
    """Return a struct that a pointer leads to; raise CelValueError if it leads nowhere."""
    if value is None:
        raise CelValueError(f"there is no field '{name}' in a value that is not a struct")
    return value


def truth(value: Json) -> bool:
    """Return a boolean; raise CelValueError for anything else."""
    if value is True or value is False:
        return bool(value)
    raise no_overload("&&, ||, ! or ?:")


def items(value: Json) -> Iterable[Json]:
    """Return the items of a list or the keys of a map."""
    if type(value) is list or type(value) is dict:
        return value
    raise CelValueError("only a list or a map can be iterated over")


def either(*parts: Callable[[], Json]) -> bool:
    """Return whether one of the parts is true; an error counts only if none is."""
    return _absorbed(parts, decisive=True)


def both(*parts: Callable[[], Json]) -> bool:
    """Return whether all parts are true; an error counts only if none is false."""
    return _absorbed(parts, decisive=False)


def exists(whole: Iterable[Json], condition: Callable[[Json], Json]) -> bool:
    """Return whether a condition holds for an item; an error counts only if it holds for none."""
    return _absorbed((partial(condition, item) for item in whole), decisive=True)


def holds(whole: Iterable[Json], condition: Callable[[Json], Json]) -> bool:
    """Return whether a condition holds for all items; an error counts only if it fails for none."""
    return _absorbed((partial(condition, item) for item in whole), decisive=False)


def _absorbed(parts: Iterable[Callable[[], Json]], *, decisive: bool) -> bool:
    fault: CelValueError | None = None
    for part in parts:
        try:
            if truth(part()) is decisive:
                return decisive
        except CelValueError as e:
            fault = fault or e
    if fault is not None:
        raise fault
    return not decisive
