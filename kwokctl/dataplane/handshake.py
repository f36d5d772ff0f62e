"""Finds out whether an etcd is that of a cluster, and keeps objects where and as it is thought to.

A lease is made through the API, looked for in etcd, and taken away there again. That settles the
prefix of the keys, whose etcd it is, and whether values of that kind are encrypted.
"""

from collections.abc import Callable
from datetime import UTC, datetime

import orjson

from kwokctl.dataplane.api import ApiPlane
from kwokctl.dataplane.keys import Keys, is_readable
from kwokctl.dataplane.port import ObjectKey
from kwokctl.dataplane.store import ObjectStore
from kwokctl.errors import ApiError, RequestError
from kwokctl.kube.resource import LEASES, NODE_LEASES

NAME = "kwok-handshake"
"""Always the same: what a controller that was killed has left behind, the next one finds and deletes."""
_TARGET = ObjectKey(LEASES, NODE_LEASES, NAME)


async def handshake(
    api: ApiPlane, store: ObjectStore, keys: Keys, wall: Callable[[], float]
) -> str | None:
    """Return why an etcd must not be written to; None if it may.

    Raises ApiError if the cluster does not let a lease be made, yet.
    """
    now = datetime.fromtimestamp(wall(), UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    lease = {
        "apiVersion": LEASES.api_version,
        "kind": LEASES.kind,
        "metadata": {"name": NAME, "namespace": NODE_LEASES},
        "spec": {"holderIdentity": "kwok", "leaseDurationSeconds": 1, "renewTime": now},
    }
    answer = orjson.loads(await _made(api, orjson.dumps(lease)))
    key, version = keys.key(LEASES, NODE_LEASES, NAME), int(answer["metadata"]["resourceVersion"])
    try:
        problem = await _problem(store, key, version)
        if problem is None:
            await store.remove((), key, version)
    except RequestError as e:
        problem = str(e)
    if problem is not None:
        await api.delete(_TARGET)
    return problem


async def _made(api: ApiPlane, lease: bytes) -> bytes:
    """Make the lease, instead of one that another controller has left behind."""
    try:
        return await api.create(LEASES, NODE_LEASES, lease)
    except ApiError as e:
        if e.reason != "AlreadyExists":
            raise
    await api.delete(_TARGET)
    return await api.create(LEASES, NODE_LEASES, lease)


async def _problem(store: ObjectStore, key: bytes, version: int) -> str | None:
    found = await store.get(key)
    if found is None or found.mod_revision != version:
        return "it is not the cluster's, or its keys begin with another prefix"
    return None if is_readable(found.value) else "its values are encrypted"
