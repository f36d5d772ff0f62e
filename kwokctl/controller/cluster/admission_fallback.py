"""Writes through the API the kinds to which webhooks or policies of a cluster apply."""

import asyncio
import logging
from collections.abc import Callable, Collection
from functools import partial
from random import Random

from kwokctl.dataplane.admission_control import WATCHED, AdmissionWatch
from kwokctl.kube.resource import EVENTS, LEASES, NODES, PODS, Resource
from kwokctl.kube.transport.pool import Pool
from kwokctl.retry import until_answered

log = logging.getLogger(__name__)

_KINDS = (NODES, PODS, LEASES, EVENTS)


class AdmissionFallback:
    """Watches webhooks and policies, and passes the data plane the kinds that they apply to."""

    def __init__(
        self, leave: Callable[[Collection[Resource]], None], pool: Pool, random: Random
    ) -> None:
        """Call `leave` with the kinds whose objects must be written through the API from now on.

        Watch through `pool`.
        """
        self._leave = leave
        self._random = random
        self._watch = AdmissionWatch(pool, self._choose)
        self._left: frozenset[Resource] = frozenset()

    async def known(self) -> None:
        """Wait until all webhooks and policies have been listed once."""
        await self._watch.known()

    async def run(self) -> None:
        """Watch them until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for resource in WATCHED:
                follow = partial(self._watch.follow, resource)
                tasks.create_task(until_answered(follow, self._random))

    def _choose(self) -> None:
        """Name the kinds that any of them applies to, and log when that changes."""
        found = {kind: names for kind in _KINDS if (names := self._watch.on(kind))}
        left = frozenset(found)
        if left == self._left:
            return
        self._left = left
        self._leave(left)
        if not left:
            log.info("no webhook or policy applies any more: writing to etcd")
            return
        plurals = " and ".join(sorted(kind.plural for kind in left))
        names = sorted(set().union(*found.values()))
        log.info("%s are written through the API: %s", plurals, ", ".join(names))
