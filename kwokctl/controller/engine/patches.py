"""What a patch would change. Pure: JSON values in, an answer out.

Knows the three patch types of the Kubernetes API well enough to tell that a patch would change
nothing, so that it need not be sent: RFC 6902, RFC 7386, and the strategic merge of nodes and pods.
"""

from collections.abc import Sequence
from typing import Any

from kwokctl.errors import ExpressionError
from kwokctl.kube.client import PatchType
from kwokctl.kube.patching.merge_keys import LISTS, NOTHING, ListRule, Rule

Json = Any


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


def is_noop(current: Json, patch: Json, patch_type: PatchType, kind: str) -> bool:
    """Tell whether a patch would surely leave an object as it is.

    False is the safe answer: it is given for whatever is not understood here.
    """
    match patch_type:
        case PatchType.MERGE:
            return _merge_is_noop(current, patch)
        case PatchType.STRATEGIC:
            return _strategic_is_noop(current, patch, LISTS.get(kind, NOTHING))
        case PatchType.JSON:
            return _json_is_noop(current, patch)
        case PatchType.APPLY:
            return False


def _merge_is_noop(current: Json, patch: Json) -> bool:
    if not isinstance(patch, dict):
        return bool(current == patch)
    if not isinstance(current, dict):
        return False
    for key, wanted in patch.items():
        if wanted is None:
            if key in current:
                return False
        elif key not in current or not _merge_is_noop(current[key], wanted):
            return False
    return True


def _strategic_is_noop(current: Json, patch: Json, rule: Rule) -> bool:
    if isinstance(rule, ListRule) and isinstance(patch, list) and isinstance(current, list):
        return _list_is_noop(current, patch, rule)
    if isinstance(rule, ListRule) or not isinstance(patch, dict) or not isinstance(current, dict):
        return bool(current == patch)
    for name, wanted in patch.items():
        if name.startswith("$"):
            return False
        if wanted is None or name not in current:
            if wanted is not None or current.get(name) is not None:
                return False
            continue
        if not _strategic_is_noop(current[name], wanted, rule.get(name, NOTHING)):
            return False
    return True


def _list_is_noop(current: Sequence[Json], patch: Sequence[Json], rule: ListRule) -> bool:
    if rule.key is None:
        return current == patch
    if not rule.key:
        return all(wanted in current for wanted in patch)
    known = {item.get(rule.key): item for item in current if isinstance(item, dict)}
    for wanted in patch:
        if not isinstance(wanted, dict) or wanted.get(rule.key) not in known:
            return False
        if not _strategic_is_noop(known[wanted.get(rule.key)], wanted, rule.fields):
            return False
    return True


def _json_is_noop(current: Json, patch: Json) -> bool:
    if not isinstance(patch, list):
        return False
    for step in patch:
        if not isinstance(step, dict) or step.get("op") not in {"add", "replace", "test"}:
            return False
        found, value = _at(current, str(step.get("path", "")))
        if not found or value != step.get("value"):
            return False
        if step["op"] == "add" and _is_in_list(current, str(step["path"])):
            return False
    return True


def _at(document: Json, pointer: str) -> tuple[bool, Json]:
    """Follow an RFC 6901 pointer; the first part tells whether there is anything."""
    value = document
    for word in pointer.split("/")[1:]:
        name = word.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return False, None
    return True, value


def _is_in_list(document: Json, pointer: str) -> bool:
    """Tell whether a pointer names an item of a list, where `add` inserts instead of replacing."""
    return isinstance(_at(document, pointer.rpartition("/")[0])[1], list)


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
