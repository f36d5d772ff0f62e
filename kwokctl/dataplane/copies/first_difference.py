"""Finds the first path at which two objects differ."""

from collections.abc import Callable

from kwokctl.dataplane.copies.variable_fields import Path
from kwokctl.json_value import Json

Same = Callable[[Path, Json, Json], bool]


def difference(first: Json, second: Json, same: Same, path: Path = ()) -> Path | None:
    """Return the path to the first difference; None if equal.

    `same` is called with values that are not equal, and not both maps or both lists of one length.
    """
    if isinstance(first, dict) and isinstance(second, dict):
        for key in first.keys() | second.keys():
            if key not in first or key not in second:
                return (*path, key)
            found = difference(first[key], second[key], same, (*path, key))
            if found is not None:
                return found
        return None
    if isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        for number, (one, other) in enumerate(zip(first, second, strict=True)):
            found = difference(one, other, same, (*path, number))
            if found is not None:
                return found
        return None
    is_same = type(first) is type(second) and first == second
    return None if is_same or same(path, first, second) else path


def spelled(path: Path) -> str:
    """Return a path as people read it: `status.podIPs[0].ip`."""
    steps = (f"[{step}]" if _is_in_brackets(step) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")


def _is_in_brackets(step: str | int) -> bool:
    return isinstance(step, int) or not step.isidentifier()


def value_at(value: Json, path: Path) -> Json:
    """Return the value at a path; KeyError, with the path, if there is none."""
    for step in path:
        fits = isinstance(value, list if isinstance(step, int) else dict)
        present = fits and (step < len(value) if isinstance(step, int) else step in value)
        if not present:
            raise KeyError(path)
        value = value[step]
    return value
