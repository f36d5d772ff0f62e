"""Finds the place in an object at which a patch of a Stage begins. Pure."""

from kwokctl.errors import ExpressionError
from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType


def rooted(document: Json, root: str, patch_type: PatchType) -> Json:
    """Put a rendered document under `root`.

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
