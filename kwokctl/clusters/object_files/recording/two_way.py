"""The patch that makes one object of another. Pure."""

from collections.abc import Mapping, Sequence
from typing import Protocol, Self

from kwokctl.json_value import Json

_REPLACE = {"$patch": "replace"}
_REMOVED = "$deleteFromPrimitiveList/"


class KnownLists(Protocol):
    """The lists of an object that are merged, and the key of their items."""

    @property
    def is_merged(self) -> bool:
        """Whether the items of this list are merged with those that are there."""

    def field(self, name: str) -> Self:
        """Return what is known of a field, or of the values of a map."""


def two_way_patch(
    old: Mapping[str, Json], new: Mapping[str, Json], schema: KnownLists
) -> dict[str, Json]:
    """Return the strategic merge patch from `old` to `new`, empty if they are equal.

    Where nothing is known of the lists, it is a JSON merge patch.
    """
    patch: dict[str, Json] = {name: None for name in old if name not in new}
    for name, value in new.items():
        before = old.get(name)
        if name in old and before == value:
            continue
        if isinstance(before, dict) and isinstance(value, dict):
            patch[name] = two_way_patch(before, value, schema.field(name))
        elif isinstance(value, list) and schema.field(name).is_merged:
            patch |= _merged(name, before if isinstance(before, list) else [], value)
        else:
            patch[name] = value
    return patch


def _merged(name: str, old: Sequence[Json], new: Sequence[Json]) -> dict[str, Json]:
    if any(isinstance(item, dict) for item in (*old, *new)):
        return {name: [_REPLACE, *new]}
    found: dict[str, Json] = {}
    if added := [item for item in new if item not in old]:
        found[name] = added
    if removed := [item for item in old if item not in new]:
        found[_REMOVED + name] = removed
    return found
