"""Chooses the data plane for a cluster: the API, or its etcd if direct writes are safe.

A handshake checks that an etcd belongs to the cluster, with the expected keys and encoding: a lease is
created through the API, looked up in etcd, and deleted there again. That shows the prefix of the keys,
that it is the cluster's etcd, and whether values of that kind are encrypted.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable

import orjson

from kwokctl.dataplane.api_plane import ApiPlane
from kwokctl.dataplane.etcd_keys import Keys, is_readable
from kwokctl.dataplane.etcd_plane import EtcdPlane, EtcdRoute
from kwokctl.dataplane.leases.encode import micro_time
from kwokctl.dataplane.object_store import ObjectStore
from kwokctl.dataplane.pacing import Window
from kwokctl.dataplane.port import DataPlane, ObjectKey
from kwokctl.errors import ApiError, RequestError
from kwokctl.kube.resource import LEASES, NODE_LEASES

log = logging.getLogger(__name__)
HANDSHAKE_LEASE = "kwok-handshake"
"""A constant name, so that a controller deletes the lease that a killed one has left behind."""
_TARGET = ObjectKey(LEASES, NODE_LEASES, HANDSHAKE_LEASE)


async def open_plane(
    api: ApiPlane,
    route: EtcdRoute | None,
    wall: Callable[[], float],
    *,
    pauses: Iterable[float] = (),
    pace: Callable[[], Window] = Window,
) -> DataPlane:
    """Return the data plane to use; `wall` is the time of day, `pace` returns a window that limits writes.

    Given `pauses` between tries, it waits until the cluster answers, and checks with a handshake
    whether etcd is the cluster's; else each bulk write checks that with its first object.
    """
    if route is None:
        return api
    problem = await _problem(api, route, wall, pauses)
    if problem is not None:
        log.warning("writing through the API: etcd at '%s': %s", route.address, problem)
        await route.store.kv.close()
        return api
    return EtcdPlane(api, route, wall, pace=pace)


async def _problem(
    api: ApiPlane, route: EtcdRoute, wall: Callable[[], float], pauses: Iterable[float]
) -> str | None:
    """Do the handshake as soon as the cluster answers, if `pauses` are given; return the problem, or None."""
    for tries, pause in enumerate(pauses):
        try:
            return await handshake(api, route.store, route.keys, wall)
        except RequestError as e:
            log.log(logging.DEBUG if tries else logging.WARNING, "%s; trying again", e)
        await asyncio.sleep(pause)
    return None


async def handshake(
    api: ApiPlane, store: ObjectStore, keys: Keys, wall: Callable[[], float]
) -> str | None:
    """Return the reason why an etcd must not be written to; None if it may be.

    Raises ApiError if the cluster does not accept a lease yet.
    """
    now = micro_time(wall())
    lease = {
        "apiVersion": LEASES.api_version,
        "kind": LEASES.kind,
        "metadata": {"name": HANDSHAKE_LEASE, "namespace": NODE_LEASES},
        "spec": {"holderIdentity": "kwok", "leaseDurationSeconds": 1, "renewTime": now},
    }
    answer = orjson.loads(await _made(api, orjson.dumps(lease)))
    key, version = (
        keys.key(LEASES, NODE_LEASES, HANDSHAKE_LEASE),
        int(answer["metadata"]["resourceVersion"]),
    )
    try:
        problem = await _mismatch(store, key, version)
        if problem is None:
            await store.remove(key, version)
    except RequestError as e:
        problem = str(e)
    if problem is not None:
        await api.delete(_TARGET)
    return problem


async def _made(api: ApiPlane, lease: bytes) -> bytes:
    """Create the lease, in place of one that another controller has left behind, and return it."""
    try:
        return await api.create(LEASES, NODE_LEASES, lease)
    except ApiError as e:
        if e.reason != "AlreadyExists":
            raise
    await api.delete(_TARGET)
    return await api.create(LEASES, NODE_LEASES, lease)


async def _mismatch(store: ObjectStore, key: bytes, version: int) -> str | None:
    found = await store.get(key)
    if found is None or found.mod_revision != version:
        return "it is not the cluster's, or its keys begin with another prefix"
    return None if is_readable(found.value) else "its values are encrypted"
