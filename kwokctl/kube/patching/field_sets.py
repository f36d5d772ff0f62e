"""Sets of fields as `metadata.managedFields` has them, and how two values differ in their fields.

A set is a map in the format `FieldsV1`. Its steps are `f:NAME` for a field and `k:{...}` for an item of a list
by its key; a step to an empty map is a field of the set, and so is one to a map with the step `.`. Format and
comparison are those of structured merge diff
(https://github.com/kubernetes-sigs/structured-merge-diff: fieldpath/serialize.go, typed/compare.go).
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache

import msgspec
import orjson

from kwokctl.json_value import Json
from kwokctl.kube.patching.unknown_patch import UnknownPatchError

FieldSet = dict[str, Json]
Keys = Mapping[str, str]
"""For each list that is merged by items the key of the items; all other lists are one value."""

_SELF = "."
_ABSENT: Json = object()
_NONE: Json = {}


class Comparison(msgspec.Struct):
    """The differences between the fields of a value and those of an older one."""

    written: FieldSet = msgspec.field(default_factory=dict)
    """The fields that are new or have another value."""
    removed: FieldSet = msgspec.field(default_factory=dict)

    def leaf(self, step: str, before: Json, after: Json) -> None:
        """Compare two values as wholes."""
        if after is _ABSENT:
            self.removed[step] = {}
        elif before is _ABSENT or before != after:
            self.written[step] = {}

    def take(self, step: str, inner: "Comparison") -> None:
        """Have what was found within a field."""
        if inner.written:
            self.written[step] = inner.written
        if inner.removed:
            self.removed[step] = inner.removed


def compare(before: Mapping[str, Json], after: Mapping[str, Json], keys: Keys) -> Comparison:
    """Compare two maps; raises UnknownPatchError for an item of a list that lacks its key."""
    found = Comparison()
    _compare_fields(before, after, keys, found)
    return found


def union(first: FieldSet, second: FieldSet) -> FieldSet:
    """Return a set with the fields of two."""
    joined = dict(first)
    for step, inner in second.items():
        own = first.get(step)
        if own is None:
            joined[step] = inner
        elif own and inner:
            joined[step] = union(own, inner)
        elif own or inner:
            joined[step] = {_SELF: {}, **(own or inner)}
    return joined


def difference(first: FieldSet, second: FieldSet) -> FieldSet:
    """Return a set with the fields of the first that are not in the second."""
    if not second:
        return first
    left: FieldSet = {}
    for step, own in first.items():
        other = second.get(step)
        if other is None or (not own and other and _SELF not in other):
            left[step] = own
        elif own and (inner := difference(own, other or {_SELF: {}})):
            left[step] = {} if inner.keys() == {_SELF} else inner
    return left


def _compare_fields(
    before: Mapping[str, Json], after: Mapping[str, Json], keys: Keys, found: Comparison
) -> None:
    for name in {**before, **after}:
        old, new = before.get(name, _ABSENT), after.get(name, _ABSENT)
        if old is new:
            continue
        if type(new) is str:  # most values; what it was does not matter
            if old != new:
                found.written[f"f:{name}"] = {}
        else:
            _compare_value(old, new, f"f:{name}", keys.get(name), keys, found)


def _compare_value(
    old: Json, new: Json, step: str, key: str | None, keys: Keys, found: Comparison
) -> None:
    kind = list if key else dict
    olds, news = _contents(old, kind), _contents(new, kind)
    if olds is None or news is None or not (olds or news):
        found.leaf(step, old, new)
        return
    inner = Comparison()
    if old is _ABSENT:
        inner.written[_SELF] = {}
    elif new is _ABSENT:
        inner.removed[_SELF] = {}
    if key:
        _compare_items(_by_key(olds, key), _by_key(news, key), keys, inner)
    else:
        _compare_fields(olds, news, keys, inner)
    found.take(step, inner)


def _contents(value: Json, kind: type) -> Json | None:
    """Return what a value consists of, empty for nothing at all; None for a value that is one."""
    if value is _ABSENT or value is None:
        return _NONE
    return value if isinstance(value, kind) else None


def _by_key(items: Iterable[Json], key: str) -> dict[str, list[Json]]:
    found: dict[str, list[Json]] = {}
    for item in items:
        if not isinstance(item, dict) or not isinstance(item.get(key), str):
            raise UnknownPatchError(f"an item of a list has no '{key}'")
        found.setdefault(_step(key, item[key]), []).append(item)
    return found


@lru_cache(1024)
def _step(key: str, value: str) -> str:
    return f"k:{orjson.dumps({key: value}).decode()}"


def _compare_items(
    olds: Mapping[str, list[Json]],
    news: Mapping[str, list[Json]],
    keys: Keys,
    found: Comparison,
) -> None:
    """Compare items by key; several of one key, such as a node's internal addresses, are one value."""
    for step in {**olds, **news}:
        old, new = olds.get(step, ()), news.get(step, ())
        if len(old) < 2 and len(new) < 2:
            first, second = old[0] if old else _ABSENT, new[0] if new else _ABSENT
            _compare_value(first, second, step, None, keys, found)
        elif len(old) > 1 and len(new) > 1:
            found.leaf(step, old, new)
        elif len(old) > 1:
            if new:
                _compare_value(_ABSENT, new[0], step, None, keys, found)
            found.removed[step] = {}
        else:
            if old:
                _compare_value(old[0], _ABSENT, step, None, keys, found)
            found.written[step] = {}
