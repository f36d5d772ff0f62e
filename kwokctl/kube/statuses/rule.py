"""The form of a rule for statuses."""

from collections.abc import Callable, Collection
from typing import NamedTuple, TypeAlias

from kwokctl.json_value import Json


class StatusChange(NamedTuple):
    """Another status of an object."""

    spec: Json
    before: Json
    """The status as it was."""
    after: Json
    """The status as it is to be: an API server can decode it."""
    kept: Collection[str] = ()
    """Fields that only some API servers keep, and this one does."""


Check: TypeAlias = Callable[[StatusChange], str | None]
"""Returns what an API server might refuse, or change, with its place; None if nothing."""


class Rule(NamedTuple):
    """A demand of the API server on some parts of a status."""

    parts: frozenset[str]
    """Those that it looks at."""
    check: Check


def of(*parts: str) -> frozenset[str]:
    """Return some parts of a status."""
    return frozenset(parts)


def left_to_the_api(*parts: str) -> Rule:
    """Return the rule that only the API server decides about some parts, unless they are empty."""

    def check(change: StatusChange) -> str | None:
        for part in parts:
            if change.after.get(part) != change.before.get(part):
                return f"{part}: the API server has to decide"
        return None

    return Rule(of(*parts), check)
