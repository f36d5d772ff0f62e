"""The lists of the Kubernetes API that a strategic merge patch merges, and their merge keys.

They are read from the table `kubernetes/merged_lists.txt`. A patch replaces all other lists, and those
of custom resources.
"""

from collections.abc import Iterator, Mapping
from functools import cache

import msgspec

from kwokctl import assets
from kwokctl.dataplane.objects.api_types import SCALARS, Many, api_type, name_of_kind

_PLAIN_VALUES = "-"


class MergedLists(msgspec.Struct, frozen=True, kw_only=True):
    """The merge strategy of an object, or of a field."""

    of: str = ""
    """The full name of its type, or of its items' type; empty for a type without fields."""
    merge_key: str | None = None
    """The field that identifies the items of a list; empty for plain values, None if the list is replaced."""
    is_map: bool = False
    """Whether it is a map whose values have the type."""

    @property
    def is_merged(self) -> bool:
        """Whether a patch merges its items with the existing ones."""
        return self.merge_key is not None

    @property
    def item(self) -> "MergedLists":
        """Return the merge strategy of an item of the list."""
        return MergedLists(of=self.of)

    def field(self, name: str) -> "MergedLists":
        """Return the merge strategy of a field, or of the values of a map."""
        if self.is_map or not self.of:
            return self.item if self.is_map else UNKNOWN
        return _fields(self.of).get(name, UNKNOWN)


UNKNOWN = MergedLists()


def lists_of_kind(api_version: str, kind: str) -> MergedLists:
    """Return the merge strategy of a kind's objects."""
    return MergedLists(of=name_of_kind(api_version, kind))


@cache
def _fields(of: str) -> Mapping[str, MergedLists]:
    return dict(_read(of))


def _read(of: str) -> Iterator[tuple[str, MergedLists]]:
    for each in api_type(of).fields:
        below = "" if each.of in SCALARS else each.of
        if not each.name:  # an embedded message: its fields are among those of the type itself
            yield from _read(below)
            continue
        key = _keys().get((of, each.name))
        yield each.name, MergedLists(of=below, merge_key=key, is_map=each.many is Many.MAP)


@cache
def _keys() -> Mapping[tuple[str, str], str]:
    found: dict[tuple[str, str], str] = {}
    for line in assets.text("kubernetes/merged_lists.txt").splitlines():
        if not line.startswith("#"):
            of, name, key = line.split()
            found[of, name] = "" if key == _PLAIN_VALUES else key
    return found
