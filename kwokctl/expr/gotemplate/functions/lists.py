"""Sprig's functions for lists. None changes the list it is given."""

from collections.abc import Callable
from typing import Any

from kwokctl.expr.gotemplate.functions.arguments import count, listing, texts
from kwokctl.expr.gotemplate.values import Fault


def _unique(values: Any) -> list[Any]:
    found: list[Any] = []
    for value in listing(values):
        if not _has(value, found):
            found.append(value)
    return found


def _has(wanted: Any, values: Any) -> bool:
    if values is None:
        return False
    return any(type(value) is type(wanted) and value == wanted for value in listing(values))


def _joined(*lists: Any) -> list[Any]:
    return [value for values in lists for value in listing(values)]


def _chunks(size: Any, values: Any) -> list[list[Any]]:
    if count(size) < 1:
        raise Fault("'chunk' needs a size of one or more")
    items = listing(values)
    return [items[at : at + size] for at in range(0, len(items), size)]


def _first(values: Any) -> Any:
    items = listing(values)
    return items[0] if items else None


def _last(values: Any) -> Any:
    items = listing(values)
    return items[-1] if items else None


def _without(values: Any, *omitted: Any) -> list[Any]:
    return [value for value in listing(values) if not _has(value, omitted)]


LISTS: dict[str, Callable[..., Any]] = {
    "append": lambda values, value: [*listing(values), value],
    "chunk": _chunks,
    "compact": lambda values: [value for value in listing(values) if value],
    "concat": _joined,
    "first": _first,
    "has": _has,
    "initial": lambda values: listing(values)[:-1],
    "last": _last,
    "list": lambda *values: list(values),
    "prepend": lambda values, value: [value, *listing(values)],
    "push": lambda values, value: [*listing(values), value],
    "rest": lambda values: listing(values)[1:],
    "reverse": lambda values: listing(values)[::-1],
    "sortAlpha": lambda values: sorted(texts(values)),
    "tuple": lambda *values: list(values),
    "uniq": _unique,
    "without": _without,
}
