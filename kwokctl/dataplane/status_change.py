"""Decides which changes of an object can be written to etcd as changes of its status. Pure."""

from kwokctl.kube.stored_json import ObjectInJson


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
