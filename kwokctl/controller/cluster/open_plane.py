"""Chooses how the controller writes: through the API, or past it to etcd where that is right."""

import asyncio
import logging
from collections.abc import Callable
from random import Random

from kwokctl.controller.settings import EtcdAccess
from kwokctl.controller.write_errors import backoff
from kwokctl.dataplane.api import ApiPlane
from kwokctl.dataplane.etcd import EtcdPlane
from kwokctl.dataplane.handshake import handshake
from kwokctl.dataplane.keys import Keys
from kwokctl.dataplane.store import Store
from kwokctl.errors import ApiError
from kwokctl.etcd.kv.kv import Kv

log = logging.getLogger(__name__)

_RETRY_FIRST, _RETRY_MOST = 0.2, 5.0


async def open_plane(
    access: EtcdAccess | None, api: ApiPlane, wall: Callable[[], float], random: Random
) -> ApiPlane | EtcdPlane:
    """Return the data plane to use; waits until the cluster answers, and owns `api`."""
    if access is None:
        return api
    at = access.target
    kv = Kv(at.address, ca=at.ca, cert=at.cert, key=at.key)
    store, keys = Store(kv), Keys(access.prefix)
    problem = await _settled(api, store, keys, wall, random)
    if problem is not None:
        log.warning("writing through the API: etcd at '%s': %s", at.address, problem)
        await kv.close()
        return api
    log.info("writing statuses and leases to etcd at '%s'", at.address)
    return EtcdPlane(api, store, keys, wall, managed_fields=access.managed_fields)


async def _settled(
    api: ApiPlane, store: Store, keys: Keys, wall: Callable[[], float], random: Random
) -> str | None:
    """Shake hands as soon as the cluster answers."""
    tries = 0
    while True:
        try:
            return await handshake(api, store, keys, wall)
        except ApiError as e:
            tries += 1
            log.log(logging.WARNING if tries == 1 else logging.DEBUG, "%s; trying again", e)
        await asyncio.sleep(backoff(tries, random, first=_RETRY_FIRST, most=_RETRY_MOST))
