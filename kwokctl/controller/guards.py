"""Follows the webhooks and policies of a cluster: what they have a say on is left to the API."""

import asyncio
import logging
from collections.abc import Collection
from contextlib import aclosing
from random import Random
from typing import Protocol

import msgspec

from kwokctl.controller.trouble import backoff
from kwokctl.dataplane.admission import WATCHED, Guard, read_guard
from kwokctl.errors import ApiError
from kwokctl.kube.http import Pool
from kwokctl.kube.resource import LEASES, NODES, PODS, Resource
from kwokctl.kube.watch import EventType, watch

log = logging.getLogger(__name__)

_KINDS = (NODES, PODS, LEASES)
_RETRY_FIRST, _RETRY_MOST = 0.2, 5.0


class Plane(Protocol):
    """Who writes past the API."""

    def leave(self, resources: Collection[Resource]) -> None:
        """Write objects of these kinds through the API from now on."""
        ...


class Guards:
    """The webhooks and policies that there are, and what is left to the API for their sake."""

    def __init__(self, plane: Plane, pool: Pool, random: Random) -> None:
        """Tell `plane` what to leave; read by `pool`."""
        self._plane = plane
        self._pool = pool
        self._random = random
        self._found: dict[tuple[Resource, str], Guard] = {}
        self._left: frozenset[Resource] = frozenset()
        self._pending = set(WATCHED)
        self._known = asyncio.Event()

    async def known(self) -> None:
        """Wait until all kinds of them have been listed once."""
        await self._known.wait()

    async def run(self) -> None:
        """Follow them until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for resource in WATCHED:
                tasks.create_task(self._follow(resource))

    async def _follow(self, resource: Resource) -> None:
        tries = 0
        while True:
            try:
                await self._heed(resource)
            except ApiError as e:
                if e.status == 404:  # this version of Kubernetes knows no such kind
                    self._listed(resource)
                    return
                tries += 1
                log.log(logging.WARNING if tries == 1 else logging.DEBUG, "%s; trying again", e)
            delay = backoff(tries, self._random, first=_RETRY_FIRST, most=_RETRY_MOST)
            await asyncio.sleep(delay)

    async def _heed(self, resource: Resource) -> None:
        def decode(raw: bytes | msgspec.Raw) -> Guard:
            return read_guard(resource.kind, raw)

        async with aclosing(watch(self._pool, resource, decoder=decode)) as batches:
            async for batch in batches:
                for event in batch:
                    if event.object is None:
                        self._listed(resource)
                    elif event.type is EventType.DELETED:
                        self._found.pop((resource, event.object.name), None)
                    else:
                        self._found[resource, event.object.name] = event.object
                self._leave()

    def _listed(self, resource: Resource) -> None:
        self._pending.discard(resource)
        if not self._pending:
            self._known.set()

    def _leave(self) -> None:
        """Leave to the API what any of them has a say on, and say so when that changes."""
        guards = self._found.values()
        left = frozenset(kind for kind in _KINDS if any(guard.watches(kind) for guard in guards))
        if left == self._left:
            return
        self._left = left
        self._plane.leave(left)
        if not left:
            log.info("no webhook or policy is passed by any more: writing to etcd")
            return
        plurals = " and ".join(sorted(kind.plural for kind in left))
        names = sorted({guard.name for guard in guards if any(map(guard.watches, left))})
        log.info("%s are written through the API: %s", plurals, ", ".join(names))
