"""The strategic merge of any kind, with its directives, as clients of the API compute patches. Pure.

https://kubernetes.io/docs/tasks/manage-kubernetes-objects/update-api-object-kubectl-patch/ describes
it, `k8s.io/apimachinery/pkg/util/strategicpatch` names the directives.
"""

from collections.abc import Iterable, Mapping
from typing import Protocol, Self

from kwokctl.json_value import Json
from kwokctl.kube.patching.strategic_merge import in_order
from kwokctl.kube.patching.unknown_patch import UnknownPatchError

_PATCH = "$patch"
_KEPT = "$retainKeys"
_REMOVED, _ORDER = "$deleteFromPrimitiveList/", "$setElementOrder/"


class ListSchema(Protocol):
    """The merge strategies of an object's lists."""

    @property
    def merge_key(self) -> str | None:
        """The field that identifies the items of this list; empty for plain values; None if the list is replaced."""

    @property
    def item(self) -> Self:
        """The schema of an item of this list."""

    def field(self, name: str) -> Self:
        """Return what is known of a field."""


def directed_merge(
    current: Mapping[str, Json], patch: Mapping[str, Json], schema: ListSchema
) -> dict[str, Json]:
    """Return `current` with `patch` merged into it; UnknownPatchError for what makes no sense."""
    match patch.get(_PATCH, "merge"):
        case "replace":
            return {name: value for name, value in patch.items() if name != _PATCH}
        case "delete":
            return {}
        case "merge":
            return _in_lists(_with_fields(current, patch, schema), patch, schema)
        case other:
            raise UnknownPatchError(f"the directive '{_PATCH}: {other}' is not known")


def _with_fields(
    current: Mapping[str, Json], patch: Mapping[str, Json], schema: ListSchema
) -> dict[str, Json]:
    """Return an object with the fields of a patch merged into it."""
    kept = patch.get(_KEPT)
    result = {name: each for name, each in current.items() if kept is None or name in kept}
    for name, value in patch.items():
        if name.startswith("$"):
            _check(name)
        elif value is None:
            result.pop(name, None)
        else:
            order = patch.get(_ORDER + name)
            result[name] = _merged(result.get(name), value, schema.field(name), order)
    return result


def _in_lists(
    result: dict[str, Json], patch: Mapping[str, Json], schema: ListSchema
) -> dict[str, Json]:
    """Do what directives say of lists: which plain values go, and which order the items have."""
    for name, removed in _directed(patch, _REMOVED):
        result[name] = [each for each in result.get(name) or () if each not in removed]
    for name, order in _directed(patch, _ORDER):
        if name not in patch and name in result:
            result[name] = _ordered(result[name], order, schema.field(name).merge_key)
    return result


def _check(name: str) -> None:
    if name not in (_PATCH, _KEPT) and not name.startswith((_REMOVED, _ORDER)):
        raise UnknownPatchError(f"the directive '{name}' is not known")


def _directed(patch: Mapping[str, Json], directive: str) -> Iterable[tuple[str, Json]]:
    return (
        (name.removeprefix(directive), value)
        for name, value in patch.items()
        if name.startswith(directive)
    )


def _merged(current: Json, value: Json, schema: ListSchema, order: Json) -> Json:
    if isinstance(value, dict):
        return directed_merge(current if isinstance(current, dict) else {}, value, schema)
    if not isinstance(value, list) or schema.merge_key is None:
        return value
    known = current if isinstance(current, list) else []
    return _ordered(_list(known, value, schema), order, schema.merge_key)


def _list(known: list[Json], patch: list[Json], schema: ListSchema) -> list[Json]:
    key = schema.merge_key
    if not key:
        return list(in_order(_by(known, key), _by(patch, key)))
    if {_PATCH: "replace"} in patch:
        return [item for item in patch if item != {_PATCH: "replace"}]
    before, wanted = _by(known, key), _by(patch, key)
    deleted = {name for name, item in wanted.items() if item.get(_PATCH) == "delete"}
    after = {
        name: directed_merge(before.get(name, {}), item, schema.item)
        for name, item in wanted.items()
        if name not in deleted
    }
    left = {name: item for name, item in before.items() if name not in deleted}
    return in_order(left, after)


def _by(items: Iterable[Json], key: str | None) -> dict[Json, Json]:
    """Return items by what identifies them."""
    try:
        return {item[key] if key else item: item for item in items}
    except (KeyError, TypeError):
        raise UnknownPatchError(f"an item of a list has no '{key}'") from None


def _ordered(items: list[Json], order: Json, key: str | None) -> list[Json]:
    """Return items in an order that names some of them, by their keys or as they are."""
    if not isinstance(order, list) or key is None:
        return items
    found = _by(items, key)
    names = [each.get(key) if key and isinstance(each, dict) else each for each in order]
    return in_order(found, {name: found[name] for name in names if name in found})
