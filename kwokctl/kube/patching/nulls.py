"""Treats nulls in the lists of a node or a pod like the API server. Pure.

Its lists have plain values or structs. A null in a field of a struct is no value, at any depth. In a
map, or as an item of a list, it becomes a value that the API server chooses: that is not certain.
"""

from collections.abc import Iterable

from kwokctl.json_value import Json
from kwokctl.kube.patching.equality import is_same
from kwokctl.kube.patching.unknown_patch import UnknownPatchError

MAPS = frozenset(
    (
        "allocatable", "allocatedResources", "annotations", "capacity", "labels", "limits",
        "matchLabels", "nodeSelector", "options", "overhead", "requests", "resources",
        "userAnnotations", "volumeAttributes",
    )
)  # fmt: skip
"""Fields that are maps somewhere in a node or a pod; all other objects there are structs."""


def replaced(known: Json, wanted: list[Json], place: str) -> Json:
    """Return a list that replaces another list, without nulls.

    That is `known` if they differ in nothing else. Raises UnknownPatchError for nulls that are not
    certain.
    """
    return kept_if_same(known, without_nulls(wanted, place) if hold_null(wanted) else wanted, place)


def kept_if_same(known: Json, wanted: list[Json], place: str) -> Json:
    """Return `known` if a list without nulls differs from it in nothing else."""
    if is_same(known, wanted):
        return known
    is_similar = type(known) is list and len(known) == len(wanted) and hold_null(known)
    return known if is_similar and is_same(without_nulls(known, place), wanted) else wanted


def hold_null(values: Iterable[Json]) -> bool:
    """Return whether there is a null among values or within them."""
    for value in values:
        kind = type(value)
        if value is None or (
            (kind is dict and hold_null(value.values())) or (kind is list and hold_null(value))
        ):
            return True
    return False


def without_nulls(items: list[Json], place: str) -> list[Json]:
    """Return the items of a list without fields that are null; raises UnknownPatchError for other nulls."""
    if any(item is None for item in items):
        raise UnknownPatchError(f"a null within the list '{place}' has no certain meaning")
    return [_value(item, place, is_map=False) for item in items]


def _value(value: Json, place: str, *, is_map: bool) -> Json:
    if isinstance(value, list):
        return without_nulls(value, place)
    return _fields(value, place, is_map=is_map) if isinstance(value, dict) else value


def _fields(fields: dict[str, Json], place: str, *, is_map: bool) -> dict[str, Json]:
    if is_map and any(value is None for value in fields.values()):
        raise UnknownPatchError(f"a null in a map of the list '{place}' has no certain meaning")
    return {
        name: _value(value, place, is_map=name in MAPS)
        for name, value in fields.items()
        if value is not None
    }
