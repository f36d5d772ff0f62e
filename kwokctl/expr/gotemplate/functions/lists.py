"""Sprig's functions for lists. None changes the list it is given."""

from collections.abc import Callable, Iterable

from kwokctl.expr.budget import spend
from kwokctl.expr.gotemplate.functions.arguments import count, listing, texts, whole
from kwokctl.expr.gotemplate.functions.choices import deep_equal
from kwokctl.expr.gotemplate.go.formatting import plain
from kwokctl.expr.gotemplate.go.go_types import Ints, Lists, NilList, Strings
from kwokctl.expr.gotemplate.go.go_values import is_list, kind
from kwokctl.expr.gotemplate.template_error import TemplateError
from kwokctl.json_value import Json


def _unique(values: object) -> list[object]:
    found: list[object] = []
    for value in listing(values):
        spend(len(found))
        if not _is_in(value, found):
            found.append(value)
    return found


def _has(wanted: object, values: object) -> bool:
    return values is not None and _is_in(wanted, listing(values))


def _is_in(wanted: object, values: Iterable[object]) -> bool:
    return any(deep_equal(value, wanted) for value in values)


def _joined(*lists: object) -> list[object]:
    return [value for values in lists for value in listing(values)] or NilList()


def _chunks(size: object, values: object) -> Lists:
    step = count(size)
    if step < 1:
        raise TemplateError("'chunk' needs a size of one or more")
    items = listing(values)
    return Lists(items[at : at + step] for at in range(0, len(items), step))


def _first(values: object) -> object:
    items = listing(values)
    return items[0] if items else None


def _last(values: object) -> object:
    items = listing(values)
    return items[-1] if items else None


def _rest(values: object) -> list[object]:
    return listing(values)[1:] if values or not is_list(values) else NilList()


def _initial(values: object) -> list[object]:
    return listing(values)[:-1] if values or not is_list(values) else NilList()


def _slice(values: object, *bounds: object) -> object:
    if not is_list(values):
        raise TemplateError(f"{kind(values)} is not a list: use 'substr' for a string")
    if not values:
        return None
    start = whole(bounds[0]) if bounds else 0
    end = whole(bounds[1]) if bounds[1:] else len(values)
    if not 0 <= start <= end <= len(values):
        raise TemplateError(f"a list of {len(values)} has no part from {start} to {end}")
    part: Json = values[start:end]
    return type(values)(part) if isinstance(values, Strings | Ints | Lists) else list(part)


def _without(values: object, *omitted: object) -> list[object]:
    items = listing(values)
    spend(len(items) * len(omitted))
    return [value for value in items if not _is_in(value, omitted)]


def _sorted(values: object) -> Strings:
    return Strings(sorted(texts(values), key=str.encode) if is_list(values) else [plain(values)])


LISTS: dict[str, Callable[..., object]] = {
    "append": lambda values, value: [*listing(values), value],
    "chunk": _chunks,
    "compact": lambda values: [value for value in listing(values) if value],
    "concat": _joined,
    "first": _first,
    "has": _has,
    "initial": _initial,
    "last": _last,
    "list": lambda *values: list(values),
    "prepend": lambda values, value: [value, *listing(values)],
    "push": lambda values, value: [*listing(values), value],
    "rest": _rest,
    "reverse": lambda values: listing(values)[::-1],
    "slice": _slice,
    "sortAlpha": _sorted,
    "tuple": lambda *values: list(values),
    "uniq": _unique,
    "without": _without,
}
