"""Leaves to the API what the webhooks and policies of a cluster have a say on."""

import asyncio
import logging
from collections.abc import Collection
from random import Random
from typing import Protocol

from kwokctl.controller.write_errors import backoff
from kwokctl.dataplane import admission_watch
from kwokctl.dataplane.admission import WATCHED
from kwokctl.errors import ApiError
from kwokctl.kube.resource import LEASES, NODES, PODS, Resource
from kwokctl.kube.transport.pool import Pool

log = logging.getLogger(__name__)

_KINDS = (NODES, PODS, LEASES)
_RETRY_FIRST, _RETRY_MOST = 0.2, 5.0


class Plane(Protocol):
    """Who writes past the API."""

    def leave(self, resources: Collection[Resource]) -> None:
        """Write objects of these kinds through the API from now on."""
        ...


class Guards:
    """What is left to the API for the sake of webhooks and policies."""

    def __init__(self, plane: Plane, pool: Pool, random: Random) -> None:
        """Tell `plane` what to leave; read by `pool`."""
        self._plane = plane
        self._random = random
        self._guards = admission_watch.AdmissionWatch(pool, self._leave)
        self._left: frozenset[Resource] = frozenset()

    async def known(self) -> None:
        """Wait until all kinds of them have been listed once."""
        await self._guards.known()

    async def run(self) -> None:
        """Follow them until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for resource in WATCHED:
                tasks.create_task(self._follow(resource))

    async def _follow(self, resource: Resource) -> None:
        tries = 0
        while True:
            try:
                await self._guards.follow(resource)
            except ApiError as e:
                tries += 1
                log.log(logging.WARNING if tries == 1 else logging.DEBUG, "%s; trying again", e)
            else:
                return
            delay = backoff(tries, self._random, first=_RETRY_FIRST, most=_RETRY_MOST)
            await asyncio.sleep(delay)

    def _leave(self) -> None:
        """Leave to the API what any of them applies to, and say so when that changes."""
        found = {kind: names for kind in _KINDS if (names := self._guards.on(kind))}
        left = frozenset(found)
        if left == self._left:
            return
        self._left = left
        self._plane.leave(left)
        if not left:
            log.info("no webhook or policy applies any more: writing to etcd")
            return
        plurals = " and ".join(sorted(kind.plural for kind in left))
        names = sorted(set().union(*found.values()))
        log.info("%s are written through the API: %s", plurals, ", ".join(names))
