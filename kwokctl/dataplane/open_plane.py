"""Chooses how a cluster is written to: through the API, or past it to etcd where that is right."""

import asyncio
import logging
from collections.abc import Callable, Iterable

from kwokctl.dataplane.api import ApiPlane
from kwokctl.dataplane.etcd import EtcdPlane, EtcdRoute
from kwokctl.dataplane.handshake import handshake
from kwokctl.dataplane.port import DataPlane
from kwokctl.errors import RequestError

log = logging.getLogger(__name__)


async def open_plane(
    api: ApiPlane,
    route: EtcdRoute | None,
    wall: Callable[[], float],
    *,
    pauses: Iterable[float] = (),
) -> DataPlane:
    """Return the data plane to use; `wall` is the time of day.

    Given `pauses` between tries, it waits until the cluster answers and finds out by a handshake
    whether etcd is the cluster's; else each bulk write finds that out with its first object.
    """
    if route is None:
        return api
    problem = await _problem(api, route, wall, pauses)
    if problem is not None:
        log.warning("writing through the API: etcd at '%s': %s", route.address, problem)
        await route.store.kv.close()
        return api
    return EtcdPlane(api, route, wall)


async def _problem(
    api: ApiPlane, route: EtcdRoute, wall: Callable[[], float], pauses: Iterable[float]
) -> str | None:
    """Shake hands as soon as the cluster answers, if there are pauses to wait for that."""
    for tries, pause in enumerate(pauses):
        try:
            return await handshake(api, route.store, route.keys, wall)
        except RequestError as e:
            log.log(logging.DEBUG if tries else logging.WARNING, "%s; trying again", e)
        await asyncio.sleep(pause)
    return None
