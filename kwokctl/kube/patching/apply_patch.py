"""Applies a patch as the API server would. Pure: JSON values in, a JSON value out.

Only what is certain: on UnknownPatchError the caller sends the patch to the API server, which applies it
or says what is wrong with it.
"""

from collections.abc import Callable
from typing import TypeAlias

from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType
from kwokctl.kube.patching import json_patch, strategic_merge
from kwokctl.kube.patching.equality import is_same
from kwokctl.kube.patching.merge_keys import LISTS, NOTHING
from kwokctl.kube.patching.strategic_merge import replaced
from kwokctl.kube.patching.unknown_patch import UnknownPatchError

__all__ = ["UnknownPatchError", "apply_patch"]

_Replace: TypeAlias = Callable[[Json, list[Json], str], Json]
"""Returns what a list becomes with the list of a patch; the last argument is its field."""

_FIXED = (
    "name", "generateName", "namespace", "uid", "resourceVersion", "generation", "selfLink",
    "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields",
)  # fmt: skip
"""Metadata that a patch must not change: it is the server's, or a precondition."""


def apply_patch(current: Json, patch: Json, patch_type: PatchType, kind: str) -> Json:
    """Return `current` with `patch` applied, as the API server would do it.

    Neither argument is changed, and the result shares with them whatever did not change; if nothing
    did, it is `current` itself. What the server does on its own at every write stays undone:
    `managedFields`, `generation`, and the fields that a subresource keeps as they were. A patch that names another `uid` or `resourceVersion` than
    the object's, or another of the fields that are not to be patched, raises UnknownPatchError.
    """
    result = _patched(current, patch, patch_type, kind)
    if result is current:
        return current
    if not isinstance(result, dict):
        raise UnknownPatchError("a patch leaves something that is not an object")
    before, after = current.get("metadata") or {}, result.get("metadata") or {}
    if before is not after:
        for name in _FIXED:
            if before.get(name) != after.get(name):
                raise UnknownPatchError(
                    f"the 'metadata.{name}' of a patch differs from that of the object"
                )
    for name in ("apiVersion", "kind"):
        if current.get(name) != result.get(name):
            raise UnknownPatchError(f"the '{name}' of a patch differs from that of the object")
    return result


def _patched(current: Json, patch: Json, patch_type: PatchType, kind: str) -> Json:
    if patch_type is PatchType.JSON:
        return json_patch.apply(current, patch)
    if patch_type is PatchType.APPLY:
        raise UnknownPatchError("a server-side apply is the server's")
    if not isinstance(patch, dict):
        raise UnknownPatchError("a patch is not an object")
    if patch_type is PatchType.MERGE:
        return _merge(current, patch, replaced if kind in LISTS else _unless_null)
    merged = strategic_merge.merge(current, patch, LISTS.get(kind, NOTHING))
    if merged is not current and kind not in LISTS:
        raise UnknownPatchError(f"the lists of kind '{kind}' are not known")
    return merged


def _merge(current: dict[str, Json], patch: dict[str, Json], replace: _Replace) -> dict[str, Json]:
    """Return `current` with a JSON merge patch (RFC 7386) merged into it; what did not change is shared.

    If nothing changes that is `current` itself. `replace` decides about lists.
    """
    result = current
    for name, wanted in patch.items():
        known = current.get(name)
        value = None if wanted is None else _value(known, wanted, name, replace)
        if value is known and (value is not None or name not in current):
            continue
        if result is current:
            result = current.copy()
        if value is None:
            del result[name]
        else:
            result[name] = value
    return result


def _value(known: Json, wanted: Json, name: str, replace: _Replace) -> Json:
    """Return the new value of a field, which is `known` if it stays as it is."""
    if isinstance(wanted, dict):
        return _merge(known if isinstance(known, dict) else {}, wanted, replace)
    if isinstance(wanted, list):
        return replace(known, wanted, name)
    return known if is_same(known, wanted) else wanted


def _unless_null(known: Json, wanted: list[Json], name: str) -> Json:
    """Return a list that replaces another list; its structs and maps are not known."""
    _refuse_nulls(wanted, name)
    return known if is_same(known, wanted) else wanted


def _refuse_nulls(value: Json, place: str) -> None:
    if value is None:
        raise UnknownPatchError(f"a null within the list '{place}' has no certain meaning")
    if isinstance(value, list):
        for item in value:
            _refuse_nulls(item, place)
    elif isinstance(value, dict):
        for item in value.values():
            _refuse_nulls(item, place)
