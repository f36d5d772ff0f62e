"""Sprig's functions for maps. Only a map that the template has made can be changed."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

from kwokctl.expr.gotemplate.functions.arguments import Owned, mapping, text
from kwokctl.expr.gotemplate.values import Fault
from kwokctl.expr.gotemplate.writing import plain


def _made(*parts: Any) -> Owned:
    """Return a map of keys and values that take turns; a value that is missing is an empty text."""
    values = [*parts[1::2], ""]
    return Owned(zip(map(plain, parts[::2]), values, strict=False))


def _own(value: Any, function: str) -> Owned:
    if isinstance(value, Owned):
        return value
    if isinstance(value, Mapping):
        raise Fault(f"'{function}' may not change a map that the template has not made")
    raise Fault(f"'{function}' needs a map")


def _set(target: Any, key: Any, value: Any) -> Owned:
    own = _own(target, "set")
    own[text(key)] = value
    return own


def _unset(target: Any, key: Any) -> Owned:
    own = _own(target, "unset")
    own.pop(text(key), None)
    return own


def _plucked(key: Any, *maps: Any) -> list[Any]:
    return [mapping(one)[text(key)] for one in maps if text(key) in mapping(one)]


def _picked(source: Any, *keys: Any) -> Owned:
    return Owned((key, mapping(source)[key]) for key in keys if key in mapping(source))


def _omitted(source: Any, *keys: Any) -> Owned:
    return Owned((key, value) for key, value in mapping(source).items() if key not in keys)


def _merged(target: Any, *sources: Any) -> Owned:
    """Return the maps as one: what comes first counts, unless it is empty."""
    return _merge(target, sources, lambda old, new: old or new)


def _overwritten(target: Any, *sources: Any) -> Owned:
    """Return the maps as one: what comes last counts."""
    return _merge(target, sources, lambda _, new: new)


def _merge(target: Any, sources: tuple[Any, ...], choose: Callable[[Any, Any], Any]) -> Owned:
    merged = target if isinstance(target, Owned) else Owned(mapping(target))
    for source in sources:
        for key, value in mapping(source).items():
            old = merged.get(key)
            if isinstance(old, Mapping) and isinstance(value, Mapping):
                merged[key] = _merge(Owned(old), (value,), choose)
            else:
                merged[key] = choose(old, value) if key in merged else value
    return merged


def _dug(*parts: Any) -> Any:
    """Return what lies under a row of keys; the last two arguments are the default and the map."""
    if len(parts) < 3:
        raise Fault("'dig' needs keys, a default and a map")
    *keys, default, value = parts
    for key in keys:
        if not isinstance(value, Mapping) or text(key) not in value:
            return default
        value = value[key]
    return value


def _copied(value: Any) -> Any:
    copied = deepcopy(value)
    return Owned(copied) if isinstance(copied, Mapping) else copied


MAPS: dict[str, Callable[..., Any]] = {
    "deepCopy": _copied,
    "dict": _made,
    "dig": _dug,
    "get": lambda source, key: mapping(source).get(text(key), ""),
    "hasKey": lambda source, key: text(key) in mapping(source),
    "keys": lambda *sources: [key for source in sources for key in mapping(source)],
    "merge": _merged,
    "mergeOverwrite": _overwritten,
    "omit": _omitted,
    "pick": _picked,
    "pluck": _plucked,
    "set": _set,
    "unset": _unset,
    "values": lambda source: list(mapping(source).values()),
}
