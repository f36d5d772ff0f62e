"""Feeds the controller with the objects of a cluster: lists first, then every change."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from random import Random
from typing import Protocol

import msgspec

from kwokctl.controller.cluster.fleet_watch import FleetWatch
from kwokctl.controller.cluster.other_kinds import OtherKinds, name_of
from kwokctl.controller.engine.decoded import (
    Decoded,
    DecodedNode,
    DecodedPod,
    version_of,
)
from kwokctl.controller.engine.engine import StageEngine
from kwokctl.controller.wiring import Controller
from kwokctl.dataplane.leases.decode import StoredLease, read_lease
from kwokctl.embedded.selection import Selection
from kwokctl.kube.client import Client
from kwokctl.kube.collections.paging import ListQuery, list_from_cache
from kwokctl.kube.collections.watch import EventType, watch
from kwokctl.kube.resource import LEASES, NODE_LEASES
from kwokctl.retry import until_answered

_GATHER = 0.03
"""Seconds between reads of a watch while much happens: a kubelet takes far longer to start a pod."""


class Documents(Protocol):
    """Something in the cluster that says what is played."""

    async def known(self) -> None:
        """Wait until it has been read, or the cluster has turned out not to show it."""
        ...

    async def run(self) -> None:
        """Follow it until cancelled."""
        ...


class ClusterWatchers:
    """Follows nodes, then pods, then other kinds; every failure is retried without end."""

    def __init__(
        self,
        client: Client,
        controller: Controller,
        selection: Selection,
        random: Random,
        documents: Sequence[Documents] = (),
    ) -> None:
        """Watch with `client`, and call `controller` with every change.

        The `documents` are known before any object is played by them.
        """
        self._client = client
        self.controller = controller
        self._selection = selection
        self._random = random
        self._documents = documents
        self._others = OtherKinds(client, controller, self._follow, self._done, random)
        self._pending = {"leases", "nodes", "pods"}
        self._synced = asyncio.Event()
        self._nodes_synced = asyncio.Event()

    @property
    def is_synced(self) -> bool:
        """Whether everything has been listed once."""
        return not self._pending

    async def synced(self) -> None:
        """Wait until everything has been listed once."""
        await self._synced.wait()

    async def run(self) -> None:
        """Follow until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for each in self._documents:
                tasks.create_task(each.run())
            for each in self._documents:
                await each.known()
            if (fleet := self._fleet_watch()) is not None:
                await fleet.join()
                tasks.create_task(fleet.run())
            self._pending.update(map(name_of, self.controller.other_kinds()))
            await self._list_leases()
            tasks.create_task(self._follow_nodes())
            tasks.create_task(self._follow_pods())
            tasks.create_task(self._others.run())

    def _fleet_watch(self) -> FleetWatch | None:
        membership, keeper = self.controller.membership, self.controller.keeper
        if membership is None or keeper is None:
            return None
        return FleetWatch(self._client, membership, keeper, self._random)

    async def _list_leases(self) -> None:
        keeper = self.controller.keeper
        if keeper is not None:
            keeper.seed(await until_answered(self._leases, self._random))
        self._done("leases")

    async def _leases(self) -> list[StoredLease]:
        name = self._selection.node_name
        query = ListQuery(
            resource=LEASES,
            namespace=NODE_LEASES,
            field_selector=f"metadata.name={name}" if name else "",
        )
        pages = list_from_cache(self._client.pool, query)
        return [read_lease(item) async for page in pages for item in page.objects]

    async def _follow_nodes(self) -> None:
        def synced() -> None:
            self._nodes_synced.set()
            self._done("nodes")

        await self._follow(
            self.controller.nodes,
            DecodedNode,
            synced,
            label_selector=self._selection.label_selector,
            field_selector=self._selection.node_field_selector,
        )

    async def _follow_pods(self) -> None:
        def synced() -> None:
            self.controller.pods_listed.set()
            self._done("pods")

        await self._nodes_synced.wait()
        await self._follow(
            self.controller.pods,
            DecodedPod,
            synced,
            field_selector=self._selection.pod_field_selector,
        )

    async def _follow(
        self,
        engine: StageEngine,
        shape: type[Decoded],
        synced: Callable[[], None],
        *,
        while_served: bool = False,
        label_selector: str = "",
        field_selector: str = "",
    ) -> None:
        decode = msgspec.json.Decoder(shape).decode
        trainings = self.controller.trainings

        async def once() -> None:
            events = watch(
                self._client.pool,
                engine.resource,
                decoder=decode,
                gather=_GATHER,
                from_cache=True,
                while_served=while_served,
                label_selector=label_selector,
                field_selector=field_selector,
            )
            async with aclosing(events) as batches:
                async for batch in batches:
                    for event in batch:
                        if event.object is None:
                            synced()
                            continue
                        is_gone = event.type is EventType.DELETED
                        if is_gone:
                            engine.drop(event.object)
                        else:
                            listed = event.type is EventType.ADDED
                            engine.note(event.object, event.raw, listed=listed)
                        if isinstance(event.object, DecodedPod):
                            meta = event.object.metadata
                            trainings.see(meta.uid, meta.annotations, event.raw, is_gone=is_gone)
                    if batch and (last := batch[-1].object) is not None:
                        self.controller.seen(engine.resource, version_of(last.metadata))

        await until_answered(once, self._random)

    def _done(self, what: str) -> None:
        self._pending.discard(what)
        if not self._pending:
            self._synced.set()
