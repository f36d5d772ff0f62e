"""A lease with all that a lease may keep."""

from kwokctl.json_value import Json
from kwokctl.kube.resource import NODE_LEASES

OWNERS = [
    {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "o", "controller": True},
    {"apiVersion": "v1", "kind": "Thing", "name": "t", "uid": "t", "blockOwnerDeletion": False},
]
METADATA: Json = {
    "name": "ours",
    "namespace": NODE_LEASES,
    "uid": "u",
    "creationTimestamp": "2026-01-01T12:00:00Z",
    "deletionTimestamp": "2026-01-01T12:00:30Z",
    "deletionGracePeriodSeconds": 300,
    "labels": {"a": "b", "empty": ""},
    "annotations": {"long": "x" * 300},
    "ownerReferences": OWNERS,
    "finalizers": ["example.com/f", "example.com/g"],
}
"""All that a lease's metadata may keep."""
