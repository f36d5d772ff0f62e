"""Sprig's functions for maps. Some change the map they are given, so it must be the template's own.

`CHANGING` names them: a template that calls one of them works on a copy of the object.
"""

from collections.abc import Callable, Mapping
from copy import deepcopy

from kwokctl.expr.gotemplate.functions.arguments import mapping, text
from kwokctl.expr.gotemplate.go.formatting import plain
from kwokctl.expr.gotemplate.go.go_times import Location
from kwokctl.expr.gotemplate.go.go_types import Strings
from kwokctl.expr.gotemplate.go.go_values import is_list, kind
from kwokctl.expr.gotemplate.template_error import TemplateError

CHANGING = frozenset({"set", "unset", "merge", "mustMerge", "mergeOverwrite", "mustMergeOverwrite"})


def _made(*parts: object) -> dict[str, object]:
    """Return a map of alternating keys and values; a missing value is an empty text."""
    values = [*parts[1::2], ""]
    return dict(zip(map(plain, parts[::2]), values, strict=False))


def _own(value: object) -> dict[str, object]:
    own = mapping(value)
    if isinstance(own, dict) and value is not None:
        return own
    raise TemplateError(f"{kind(value)} cannot be changed")


def _set(target: object, key: object, value: object) -> dict[str, object]:
    own = _own(target)
    own[text(key)] = value
    return own


def _unset(target: object, key: object) -> Mapping[str, object]:
    own = _own(target)
    own.pop(text(key), None)
    return own


def _plucked(key: object, *maps: object) -> list[object]:
    return [mapping(one)[text(key)] for one in maps if text(key) in mapping(one)]


def _picked(source: object, *keys: object) -> dict[str, object]:
    return {key: mapping(source)[key] for key in map(text, keys) if key in mapping(source)}


def _omitted(source: object, *keys: object) -> dict[str, object]:
    omitted = set(map(text, keys))
    return {key: value for key, value in mapping(source).items() if key not in omitted}


def _merged(target: object, *sources: object) -> object:
    """Add the maps to the first one: the first value of a key counts, unless it is empty."""
    return _merge_all(target, sources, overwrites=False)


def _overwritten(target: object, *sources: object) -> object:
    """Add the maps to the first one: the last value of a key counts."""
    return _merge_all(target, sources, overwrites=True)


def _merge_all(target: object, sources: tuple[object, ...], *, overwrites: bool) -> object:
    merged = {} if target is None else _own(target)
    for source in sources:
        _merge(merged, mapping(source), overwrites=overwrites)
    return merged


def _merge(target: dict[str, object], source: Mapping[str, object], *, overwrites: bool) -> None:
    """Do as https://pkg.go.dev/dario.cat/mergo#Merge does with maps."""
    for key, value in source.items():
        old = target.get(key)
        if value is None:
            if overwrites:
                target[key] = None
        elif isinstance(value, Mapping) and isinstance(old, dict):
            _merge(old, value, overwrites=overwrites)
            if not old:
                target[key] = value
        elif is_list(value) and is_list(old) and old:
            target[key] = value if overwrites and source else old
        elif overwrites or not old:
            target[key] = value


def _dug(*parts: object) -> object:
    """Return the value under a row of keys; the last two arguments are the default and the map."""
    if len(parts) < 3:
        raise TemplateError("'dig' needs keys, a default and a map")
    *keys, default, value = parts
    names = list(map(text, keys))
    for number, name in enumerate(names):
        if value is None:
            raise TemplateError(f"{kind(None)} is not a map")
        inner = mapping(value)
        if name not in inner:
            return default
        value = inner[name]
        if number == len(names) - 1:
            return value
    return value


def _copied(value: object) -> object:
    if value is None or isinstance(value, Location):
        raise TemplateError(f"{kind(value)} cannot be copied")
    return deepcopy(value)


MAPS: dict[str, Callable[..., object]] = {
    "deepCopy": _copied,
    "dict": _made,
    "dig": _dug,
    "get": lambda source, key: mapping(source).get(text(key), ""),
    "hasKey": lambda source, key: text(key) in mapping(source),
    "keys": lambda *sources: Strings(key for source in sources for key in mapping(source)),
    "merge": _merged,
    "mergeOverwrite": _overwritten,
    "omit": _omitted,
    "pick": _picked,
    "pluck": _plucked,
    "set": _set,
    "unset": _unset,
    "values": lambda source: list(mapping(source).values()),
}
