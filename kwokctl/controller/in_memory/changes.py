"""Checks that the API server would accept a change of an object unchanged. Pure."""

from kwokctl.json_value import Json
from kwokctl.kube.names import is_label_value, is_qualified_name
from kwokctl.kube.patching.unknown_patch import UnknownPatchError

STATUS, ITSELF = "status", ""
PLAYED = frozenset({STATUS, ITSELF})
"""The subresources that can be patched before an object is written."""
WORDS = ("labels", "annotations")
"""The metadata that can be patched before an object is written."""
_MOST = 256 << 10
"""The most bytes of all annotations of an object (`TotalAnnotationSizeLimitB` of Kubernetes)."""


def check_changes(before: Json, after: Json, subresource: str) -> None:
    """Raise UnknownPatchError unless the API server would certainly accept a change unchanged."""
    part = "status" if subresource == STATUS else "metadata"
    for name in after.keys() | before.keys():
        if name != part and after.get(name) is not before.get(name):
            raise UnknownPatchError(f"'{name}' cannot be patched here")
    if part == "metadata":
        _check_metadata(before["metadata"], after["metadata"])


def _check_metadata(before: Json, after: Json) -> None:
    for name in after.keys() | before.keys():
        if name not in WORDS and after.get(name) is not before.get(name):
            raise UnknownPatchError(f"'metadata.{name}' cannot be patched here")
    labels, annotations = [after.get(name) or {} for name in WORDS]
    if not (_are_labels(labels) and _are_annotations(annotations)):
        raise UnknownPatchError("the API server would refuse the labels or annotations")


def _are_labels(labels: Json) -> bool:
    return isinstance(labels, dict) and all(
        is_qualified_name(name) and isinstance(text, str) and is_label_value(text)
        for name, text in labels.items()
    )


def _are_annotations(annotations: Json) -> bool:
    if not isinstance(annotations, dict):
        return False
    size = 0
    for name, text in annotations.items():
        if not isinstance(text, str) or not is_qualified_name(name.lower()):
            return False
        size += len(name.encode()) + len(text.encode())
    return size <= _MOST
