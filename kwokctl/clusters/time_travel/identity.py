"""Identifies the cluster of an etcd, so that a rewind does not write to that of another cluster."""

from kwokctl.dataplane.keys import Keys
from kwokctl.errors import ApiError, ConflictError
from kwokctl.etcd.kv.kv import Kv
from kwokctl.kube.client import Client
from kwokctl.kube.resource import NAMESPACES

_SYSTEM = "kube-system"
_TRIES = 3
"""The most comparisons of API server and etcd: another client may write between the two reads."""
_MISSING = 404


async def cluster_uid(client: Client, kv: Kv, prefix: str) -> str:
    """Return the uid of the namespace `kube-system`, which identifies a cluster.

    Empty in a cluster that has just started. Raises ConflictError unless the API server stores that
    namespace in this etcd under this prefix.
    """
    key = Keys(prefix).key(NAMESPACES, None, _SYSTEM)
    for _ in range(_TRIES):
        try:
            metadata = (await client.get(NAMESPACES, None, _SYSTEM))["metadata"]
        except ApiError as e:
            if e.status == _MISSING:
                return ""
            raise
        found = await kv.get(key)
        if found and str(found.mod_revision) == metadata["resourceVersion"]:
            uid: str = metadata["uid"]
            return uid
    raise ConflictError(
        f"the API server does not keep its objects in this etcd under '{prefix}'",
        hint="nothing was changed; see what runs with: kwokctl status",
    )
