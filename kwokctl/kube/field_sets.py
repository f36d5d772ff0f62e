"""Sets of fields as `metadata.managedFields` has them, and how two values differ in their fields.

A path is a tuple of steps: `f:NAME` for a field, `k:{...}` for an item of a list by its key. Format and
comparison are those of structured merge diff
(https://github.com/kubernetes-sigs/structured-merge-diff: fieldpath/serialize.go, typed/compare.go).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from kwokctl.kube.unknown_patch import UnknownPatchError

Json = Any
FieldPath = tuple[str, ...]
Keys = Mapping[str, str]
"""For each list that is merged by items the key of the items; all other lists are one value."""

_SELF = "."
_ABSENT: Json = object()
_NONE: Json = {}


@dataclass(slots=True)
class Comparison:
    """How the fields of a value differ from those of an older one."""

    written: set[FieldPath] = field(default_factory=set)
    """What is new or has another value."""
    removed: set[FieldPath] = field(default_factory=set)

    def leaf(self, path: FieldPath, before: Json, after: Json) -> None:
        """Compare two values as wholes."""
        if after is _ABSENT:
            self.removed.add(path)
        elif before is _ABSENT or before != after:
            self.written.add(path)


def compare(before: Mapping[str, Json], after: Mapping[str, Json], keys: Keys) -> Comparison:
    """Compare two maps; raises UnknownPatchError for an item of a list that lacks its key."""
    found = Comparison()
    _compare_fields(before, after, (), keys, found)
    return found


def read_set(fields: Json) -> set[FieldPath]:
    """Return the paths of a set of the format `FieldsV1`."""
    return set(_paths(fields, ()))


def written_set(paths: Iterable[FieldPath]) -> Json:
    """Return a set of paths in the format `FieldsV1`."""
    root: dict[str, Json] = {}
    for path in sorted(paths):  # a path comes before those below it
        node = root
        for step in path[:-1]:
            inner = node.get(step)
            if inner is None:
                inner = node[step] = {}
            elif not inner:
                inner[_SELF] = {}
            node = inner
        node[path[-1]] = {}
    return root


def _paths(fields: Json, path: FieldPath) -> Iterator[FieldPath]:
    for step, inner in fields.items():
        if step == _SELF:
            yield path
        elif inner:
            yield from _paths(inner, (*path, step))
        else:
            yield (*path, step)


def _compare_fields(
    before: Mapping[str, Json],
    after: Mapping[str, Json],
    path: FieldPath,
    keys: Keys,
    found: Comparison,
) -> None:
    for name in {**before, **after}:
        old, new = before.get(name, _ABSENT), after.get(name, _ABSENT)
        if old is not new:
            _compare_value(old, new, (*path, f"f:{name}"), keys.get(name), keys, found)


def _compare_value(
    old: Json, new: Json, path: FieldPath, key: str | None, keys: Keys, found: Comparison
) -> None:
    kind = list if key else dict
    olds, news = _contents(old, kind), _contents(new, kind)
    if olds is None or news is None or not (olds or news):
        found.leaf(path, old, new)
        return
    if key:
        _compare_items(_by_key(olds, key), _by_key(news, key), path, keys, found)
    else:
        _compare_fields(olds or {}, news or {}, path, keys, found)
    if old is _ABSENT or new is _ABSENT:
        found.leaf(path, old, new)


def _contents(value: Json, kind: type) -> Json | None:
    """Return what a value consists of, empty for nothing at all; None for a value that is one."""
    if value is _ABSENT or value is None:
        return _NONE
    return value if isinstance(value, kind) else None


def _by_key(items: Iterable[Json], key: str) -> dict[str, list[Json]]:
    found: dict[str, list[Json]] = {}
    for item in items:
        if not isinstance(item, dict) or key not in item:
            raise UnknownPatchError(f"an item of a list has no '{key}'")
        step = f"k:{orjson.dumps({key: item[key]}).decode()}"
        found.setdefault(step, []).append(item)
    return found


def _compare_items(
    olds: Mapping[str, list[Json]],
    news: Mapping[str, list[Json]],
    path: FieldPath,
    keys: Keys,
    found: Comparison,
) -> None:
    """Compare items by key; several of one key, such as a node's internal addresses, are one value."""
    for step in {**olds, **news}:
        old, new, inner = olds.get(step, []), news.get(step, []), (*path, step)
        if len(old) < 2 and len(new) < 2:
            first, second = (each[0] if each else _ABSENT for each in (old, new))
            _compare_value(first, second, inner, None, keys, found)
        elif len(old) > 1 and len(new) > 1:
            found.leaf(inner, old, new)
        elif len(old) > 1:
            if new:
                _compare_value(_ABSENT, new[0], inner, None, keys, found)
            found.removed.add(inner)
        else:
            if old:
                _compare_value(old[0], _ABSENT, inner, None, keys, found)
            found.written.add(inner)
