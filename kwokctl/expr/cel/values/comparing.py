"""Equality, order and membership of values whose types are not known beforehand."""

from collections.abc import Callable
from functools import partial
from operator import ge, gt, le, lt

from kwokctl.expr.cel.fault import CelValueError, no_overload
from kwokctl.expr.cel.values.arithmetic import GREATER, GREATER_EQUAL, LESS, LESS_EQUAL
from kwokctl.expr.cel.values.quantities import CelQuantity
from kwokctl.expr.cel.values.scalars import CelDuration, CelTime, Uint
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
