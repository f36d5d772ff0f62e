"""Access to fields of values whose types are not known beforehand, and the logical operators."""

from collections.abc import Callable, Iterable
from functools import partial

from kwokctl.expr.cel.fault import CelValueError, no_overload
from kwokctl.expr.cel.values.structs import ResourceList, amount
from kwokctl.json_value import Json


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
