"""Whether the objects of arrivals are alike: what the API server makes of one, it would make of the others. Pure.

It completes and checks an object by its fields, but for the name and what is said of it in labels and
annotations. So objects that differ only there are copies of each other; a number in the spec may make it
choose another default, or refuse the object.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from kwokctl.dataplane.copies.first_difference import difference, value_at
from kwokctl.dataplane.copies.variable_fields import Path
from kwokctl.json_value import Json
from kwokctl.kube.names import is_label, is_label_value

_LABELS, _ANNOTATIONS = "labels", "annotations"
_OF_KUBERNETES = ("kubernetes.io", "k8s.io")
"""The ends of prefixes of annotations that the API server may understand."""


class Bundle(msgspec.Struct, frozen=True):
    """The objects of one arrival."""

    index: int
    name: str
    bodies: Sequence[Mapping[str, Any]]

    @property
    def names(self) -> tuple[str, ...]:
        """The name of the arrival, and those of its objects."""
        return (self.name, *(str(each["metadata"].get("name", "")) for each in self.bodies))


class Likeness:
    """The common parts of the objects at one place of bundles, and the paths at which they differ."""

    def __init__(self, bundles: Sequence[Bundle], place: int) -> None:
        """Learn from some bundles where objects differ; all others are compared with the first."""
        self._first, self._place = bundles[0], place
        self._names = {name: number for number, name in enumerate(self._first.names)}
        bodies = [each.bodies[place] for each in bundles if place < len(each.bodies)]
        self.varying = frozenset(
            path for path, _ in _leaves(bodies[0], ()) if _differs(path, bodies)
        )
        """The paths of values that differ from object to object, beside those with its name."""

    def difference(self, bundle: Bundle) -> Path | None:
        """Return the first path at which an object must not differ from the first, and does; None for a copy."""
        names = bundle.names

        def same(path: Path, one: Json, other: Json) -> bool:
            if not isinstance(one, str) or not isinstance(other, str):
                return False
            number = self._names.get(one)
            if number is not None and number < len(names) and names[number] == other:
                return is_label(other)
            return path in self.varying and _is_free(path, other)

        first = self._first.bodies[self._place]
        return difference(first, bundle.bodies[self._place], same)


def _differs(path: Path, bodies: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether bodies have different values at a path, other than their names."""
    values = [_found(each, path) for each in bodies]
    names = [each["metadata"].get("name") for each in bodies]
    return values != names and any(value != values[0] for value in values)


def _found(body: Json, path: Path) -> Json:
    try:
        return value_at(body, path)
    except KeyError:
        return None


def _is_free(path: Path, value: str) -> bool:
    """Return whether the API server takes a text as it is, and makes nothing else of it."""
    if len(path) < 3 or path[-3] != "metadata":
        return False
    field, key = path[-2], str(path[-1])
    if field == _ANNOTATIONS:
        return not key.partition("/")[0].endswith(_OF_KUBERNETES)
    return field == _LABELS and is_label_value(value)


def _leaves(value: Json, path: Path) -> Iterator[tuple[Path, Json]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _leaves(inner, (*path, number))
    else:
        yield path, value
