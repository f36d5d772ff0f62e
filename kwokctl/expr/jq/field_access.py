"""Reads fields and items of values like jq; compiled code calls it where its fast way fails."""

from collections.abc import Collection, Mapping, Sequence


class JqError(Exception):
    """A run-time error of jq, in its words."""


def dig(value: object, names: tuple[str, ...]) -> object:
    """Return the value under a row of fields; null has null in every field."""
    for name in names:
        if type(value) is dict:  # nearly always, at a tenth of the cost of the check for mappings
            value = value.get(name)
        elif value is None:
            return None
        else:
            value = field(value, name)
    return value


def field(value: object, name: str) -> object:
    """Return the field `name` of an object, null if it has none."""
    if isinstance(value, Mapping):
        return value.get(name)
    if value is None:
        return None
    raise JqError(f"cannot take the field '{name}' of {_kind(value)}")


def item(value: object, index: int) -> object:
    """Return an item of an array, null beyond its ends."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return value[index] if -len(value) <= index < len(value) else None
    if value is None:
        return None
    raise JqError(f"cannot take item {index} of {_kind(value)}")


def each(value: object) -> Collection[object]:
    """Return the items of an array or the values of an object."""
    if isinstance(value, Mapping):
        return value.values()
    if isinstance(value, Sequence) and not isinstance(value, str):
        return value
    raise JqError(f"cannot go through {_kind(value)}")


def each_if_any(value: object) -> Collection[object]:
    """Return the items of an array or the values of an object, nothing of anything else."""
    try:
        return each(value)
    except JqError:
        return ()


def _kind(value: object) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int | float):
        return f"the number {value}"
    if isinstance(value, str):
        return f"the text '{value}'"
    return "an object" if isinstance(value, Mapping) else "an array"
