"""The patches that the steps of a Stage ask for. Pure."""

from collections.abc import Sequence

from kwokctl.errors import ExpressionError
from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType
from kwokctl.kube.patching.apply import UnknownPatchError, apply_patch


def rooted(document: Json, root: str, patch_type: PatchType) -> Json:
    """Put what a template rendered under `root`.

    A JSON patch has `root` prefixed to each `path` and each `from`.
    """
    if not root:
        return document
    if patch_type is not PatchType.JSON:
        return {root: document}
    if not isinstance(document, list) or not all(isinstance(step, dict) for step in document):
        raise ExpressionError("a patch of type 'json' must render a list of operations")
    prefix = f"/{root}"
    return [
        {**step, **{k: prefix + step[k] for k in ("path", "from") if k in step}}
        for step in document
    ]


def result_of(current: Json, patch: Json, patch_type: PatchType, kind: str) -> Json | None:
    """Return `current` itself if a patch changes nothing, or else the object with the patch applied.

    None where the patch changes a plain value, so that it is sent in any case, and where the result
    is not certain: then the data plane computes it, if it needs it.
    """
    if patch_type is not PatchType.JSON and isinstance(patch, dict) and _sets(current, patch):
        return None
    try:
        return apply_patch(current, patch, patch_type, kind)
    except UnknownPatchError:
        return None


def _sets(current: Json, patch: Json) -> bool:
    """Return whether a patch certainly changes a plain value."""
    for name, wanted in patch.items():
        known = current.get(name)
        if isinstance(wanted, dict):
            if not isinstance(known, dict) or _sets(known, wanted):
                return True
        elif isinstance(wanted, list):
            if isinstance(known, list) and _has_news(known, wanted):
                return True
        elif known != wanted:
            return True
    return False


def _has_news(known: Sequence[Json], wanted: Sequence[Json]) -> bool:
    """Return whether an item of a list has a text that no known item has in that field.

    However the list is merged, such a text is new: this recognizes a node's heartbeat.
    """
    # Written out, because generators would cost more than what they do, for each transition.
    for item in wanted:
        if isinstance(item, dict) and "$patch" not in item:
            for name, text in item.items():
                if isinstance(text, str) and not _occurs(known, name, text):
                    return True
    return False


def _occurs(items: Sequence[Json], name: str, text: str) -> bool:
    """Return whether an item has a text in a field."""
    return text in [item.get(name) for item in items if isinstance(item, dict)]


def finalizers_after(
    current: Sequence[str], *, add: Sequence[str], remove: Sequence[str], empty: bool
) -> list[str]:
    """Return the finalizers of an object after a stage's step: emptied first, then added."""
    kept = [] if empty else [name for name in current if name not in remove]
    return kept + [name for name in dict.fromkeys(add) if name not in kept]


def with_uid(document: Json, uid: str, patch_type: PatchType) -> Json:
    """Make a patch fail unless it meets the object that it was made for."""
    if patch_type is PatchType.JSON:
        return [{"op": "test", "path": "/metadata/uid", "value": uid}, *document]
    if not isinstance(document, dict):
        raise ExpressionError(
            "a patch rendered something that is not a mapping",
            hint="let the template render fields, or set the type to 'json' for a list of operations",
        )
    metadata = document.get("metadata") or {}
    return {**document, "metadata": {**metadata, "uid": uid}}
