"""Sprig's functions for defaults, kinds and failures."""

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from kwokctl.expr.gotemplate.functions.arguments import text
from kwokctl.expr.gotemplate.values import Fault, is_list, type_name


def _default(otherwise: Any, given: Any = None) -> Any:
    return given or otherwise


def _ternary(yes: Any, no: Any, condition: Any) -> Any:
    if not isinstance(condition, bool):
        raise Fault("'ternary' needs a boolean as its last value")
    return yes if condition else no


def _kind_of(value: Any) -> str:
    if value is None:
        return "invalid"
    if isinstance(value, Mapping):
        return "map"
    return "slice" if is_list(value) else type_name(value)


def _equal(first: Any, second: Any) -> bool:
    """Compare by value and kind, all the way down."""
    if _kind_of(first) != _kind_of(second):
        return False
    if isinstance(first, Mapping):
        return first.keys() == second.keys() and all(_equal(first[k], second[k]) for k in first)
    if is_list(first):
        return len(first) == len(second) and all(map(_equal, first, second))
    return bool(first == second)


def _fail(message: Any) -> NoReturn:
    raise Fault(text(message))


CHOICES: dict[str, Callable[..., Any]] = {
    "all": lambda *values: all(values),
    "any": lambda *values: any(values),
    "coalesce": lambda *values: next(filter(None, values), None),
    "deepEqual": _equal,
    "default": _default,
    "empty": lambda value=None: not value,
    "fail": _fail,
    "kindIs": lambda kind, value: _kind_of(value) == kind,
    "kindOf": _kind_of,
    "ternary": _ternary,
    "typeIs": lambda name, value: type_name(value) == name,
    "typeIsLike": lambda name, value: type_name(value) == name,
    "typeOf": type_name,
}
