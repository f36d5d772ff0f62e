"""The patches of a Stage's steps. Pure."""

from collections.abc import Sequence

from kwokctl.errors import ExpressionError
from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType
from kwokctl.kube.patching.apply_patch import UnknownPatchError, apply_patch


def result_of(current: Json, patch: Json, patch_type: PatchType, kind: str) -> Json | None:
    """Return the object with a patch applied, `current` itself if that changes nothing.

    None if the result is not certain: then the data plane leaves the patch to the API server.
    """
    try:
        return apply_patch(current, patch, patch_type, kind)
    except UnknownPatchError:
        return None


def finalizers_after(
    current: Sequence[str], *, add: Sequence[str], remove: Sequence[str], empty: bool
) -> list[str]:
    """Return the finalizers of an object after a step, which first empties or removes, then adds."""
    kept = [] if empty else [name for name in current if name not in remove]
    return kept + [name for name in dict.fromkeys(add) if name not in kept]


def with_uid(document: Json, uid: str, patch_type: PatchType) -> Json:
    """Return a patch that fails unless the object has this uid."""
    if patch_type is PatchType.JSON:
        return [{"op": "test", "path": "/metadata/uid", "value": uid}, *document]
    if not isinstance(document, dict):
        raise ExpressionError(
            "a patch rendered something that is not a mapping",
            hint="let the template render fields, or set the type to 'json' for a list of operations",
        )
    metadata = document.get("metadata") or {}
    return {**document, "metadata": {**metadata, "uid": uid}}
