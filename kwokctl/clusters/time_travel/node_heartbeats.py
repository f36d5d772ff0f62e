"""Tells whether a node has only refreshed its status, as kubelets do every few minutes."""

from kwokctl.dataplane.objects.stored_values import decoded
from kwokctl.json_value import Json


def only_heartbeats_differ(before: bytes, after: bytes) -> bool:
    """Return whether two stored values of a node differ in the times of heartbeats only.

    UndecodableError says why that cannot be seen.
    """
    return _without_heartbeats(before) == _without_heartbeats(after)


def _without_heartbeats(node: bytes) -> dict[str, Json]:
    document = decoded(node).document
    document["metadata"].pop("managedFields", None)  # has the time of the last write
    for condition in document.get("status", {}).get("conditions") or ():
        condition.pop("lastHeartbeatTime", None)
    return document
