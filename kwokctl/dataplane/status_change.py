"""Decides which changes of an object can be written to etcd as changes of its status. Pure."""

from collections.abc import Mapping

from kwokctl.kube.names import is_label_value, is_qualified_name
from kwokctl.kube.stored_json import ObjectInJson

_REPORTED = frozenset({"labels", "annotations"})
_MOST_ANNOTATIONS = 200_000
"""Bytes of annotations that are certainly taken: the API server takes 256 KiB."""


def version_of(value: ObjectInJson) -> int:
    """Return an object's version as a number: a revision of etcd."""
    return int(value["metadata"]["resourceVersion"])


def as_of(value: ObjectInJson, revision: int) -> ObjectInJson:
    """Return an object with the version of the revision in which it was written."""
    return {**value, "metadata": {**value["metadata"], "resourceVersion": str(revision)}}


def is_of_status(before: ObjectInJson, after: ObjectInJson) -> bool:
    """Return whether two objects differ in nothing but their status."""
    for field in after if after.keys() >= before.keys() else {**before, **after}:
        old, new = before.get(field), after.get(field)
        if new is not old and field != "status" and new != old:
            return False
    return True


def is_of_report(before: ObjectInJson, after: ObjectInJson) -> bool:
    """Return whether two nodes differ in nothing but status, labels and annotations that the API server takes.

    With the status of a node it takes these, too, as kubelets send them.
    """
    old, new = before["metadata"], after["metadata"]
    if _others(old) != _others(new) or not is_of_status(before, {**after, "metadata": old}):
        return False
    labels, annotations = new.get("labels") or {}, new.get("annotations") or {}
    keys = {*labels, *annotations} - {*(old.get("labels") or {}), *(old.get("annotations") or {})}
    size = sum(len(key) + len(text.encode()) for key, text in annotations.items())
    return (
        size < _MOST_ANNOTATIONS
        and all(map(is_qualified_name, keys))
        and all(map(is_label_value, labels.values()))
    )


def _others(metadata: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in metadata.items() if name not in _REPORTED}
