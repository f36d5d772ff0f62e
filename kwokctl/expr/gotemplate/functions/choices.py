"""Sprig's functions for defaults, kinds and failures."""

from collections.abc import Callable, Mapping
from typing import NoReturn

from kwokctl.expr.gotemplate.functions.arguments import text
from kwokctl.expr.gotemplate.go.go_types import NIL, kind_name, type_name
from kwokctl.expr.gotemplate.go.go_values import is_list
from kwokctl.expr.gotemplate.template_error import TemplateError
from kwokctl.json_value import Json


def _default(otherwise: object, *given: object) -> object:
    return given[0] if given and given[0] else otherwise


def _ternary(yes: object, no: object, condition: object) -> object:
    if not isinstance(condition, bool):
        raise TemplateError("'ternary' needs a boolean as its last value")
    return yes if condition else no


def deep_equal(first: Json, second: Json) -> bool:
    """Return whether values and types are the same, all the way down: `reflect.DeepEqual`."""
    if type_name(first) != type_name(second):
        return False
    if isinstance(first, Mapping):
        return first.keys() == second.keys() and all(deep_equal(first[k], second[k]) for k in first)
    if is_list(first):
        if isinstance(first, NIL) is not isinstance(second, NIL):
            return False
        return len(first) == len(second) and all(map(deep_equal, first, second))
    return bool(first == second)


def _fail(message: object) -> NoReturn:
    raise TemplateError(text(message))


CHOICES: dict[str, Callable[..., object]] = {
    "all": lambda *values: all(values),
    "any": lambda *values: any(values),
    "coalesce": lambda *values: next(filter(None, values), None),
    "deepEqual": deep_equal,
    "default": _default,
    "empty": lambda value: not value,
    "fail": _fail,
    "kindIs": lambda kind, value: kind_name(value) == text(kind),
    "kindOf": kind_name,
    "ternary": _ternary,
    "typeIs": lambda name, value: type_name(value) == text(name),
    "typeIsLike": lambda name, value: (
        type_name(value).removeprefix("*") == text(name).removeprefix("*")
    ),
    "typeOf": type_name,
}
