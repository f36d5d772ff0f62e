"""Lets many write to the same few objects at once, and says what is wrong in the end."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from typing import Protocol

import msgspec

from kwokctl.etcd.kv.kv import prefix_end
from kwokctl.json_value import Json
from kwokctl.kube.collections.watch import EventType, watch
from tests.support.direct import encoded
from tests.support.eventually import eventually
from tests.support.planes import KEYS
from tests.support.racing.ground import Ground
from tests.support.racing.ledger import shown


class Racer(Protocol):
    """A client that writes."""

    async def turn(self) -> None:
        """Write once."""
        ...


class Race:
    """One race."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._seen = 0

    async def run(self, racers: Sequence[Racer], *, turns: int) -> list[str]:
        """Let every racer have so many turns; return what is wrong at the end."""
        ground = self._ground
        async with asyncio.TaskGroup() as tasks:
            watching = tasks.create_task(self._watch())
            for body in ground.bodies.values():
                await ground.client.create(ground.resource, ground.namespace, encoded(body))
            await eventually(lambda: all(ground.copies.values()))
            async with asyncio.TaskGroup() as writers:
                for racer in racers:
                    writers.create_task(self._turns(racer, turns))
                writers.create_task(self._list(turns // 10))
            present = await ground.present()
            await eventually(lambda: self._seen >= ground.ledger.latest)
            watching.cancel()
        faults = ground.ledger.faults([shown(body) for body in present.values()])
        return [*faults, *await self._unlike_etcd(present)]

    async def _turns(self, racer: Racer, turns: int) -> None:
        for _ in range(turns):
            await racer.turn()

    async def _watch(self) -> None:
        """Be the watch from which kubelets know, and keep account of all that is shown."""
        ground, decode = self._ground, msgspec.json.decode
        events = watch(
            ground.client.pool, ground.resource, decoder=decode, namespace=ground.namespace
        )
        async with aclosing(events) as batches:
            async for batch in batches:
                for event in batch:
                    if event.object is not None:
                        self._show(event.object, is_gone=event.type is EventType.DELETED)
                ground.plane.seen(ground.resource, self._seen)

    def _show(self, body: Json, *, is_gone: bool) -> None:
        if not body["metadata"].get("resourceVersion"):
            return  # its outcome is unknown
        what = shown(body, is_gone=is_gone)
        self._ground.ledger.show(what)
        self._seen = max(self._seen, what.revision)
        if not is_gone and what.name in self._ground.copies:
            self._ground.copies[what.name].append(body)

    async def _list(self, times: int) -> None:
        """See that every object can be decoded at any time."""
        for _ in range(times):
            for body in (await self._ground.present()).values():
                self._ground.ledger.show(shown(body))
            await asyncio.sleep(self._ground.random.uniform(0, 0.05))

    async def _unlike_etcd(self, present: dict[str, Json]) -> list[str]:
        """Return what a list, from the API server's cache, shows otherwise than etcd has it."""
        ground = self._ground
        folder = KEYS.folder(ground.resource, ground.namespace)
        page = await ground.kv.page(folder, prefix_end(folder), keys_only=True)
        names = {each.key.removeprefix(folder).decode() for each in page.items} & set(ground.bodies)
        faults = [f"in etcd {names}, listed {present.keys()}"] if names != present.keys() else []
        for name, body in present.items():
            read = await ground.client.get(ground.resource, ground.namespace, name)
            if {**read, **body} != read:
                faults.append(f"listed {body}, read {read}")
        return faults
