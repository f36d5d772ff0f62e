"""Keeps the ResourceSlices of nodes in line with the faults of their GPUs, in place of the DRA driver."""

import asyncio
import logging
from collections.abc import Sequence
from itertools import count

import orjson

from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.nodes.facts import NodeFacts
from kwokctl.controller.nodes.node_registry import ManagedNode, NodeRegistry
from kwokctl.controller.object_warnings import COMPONENT
from kwokctl.controller.scheduling.worker_queue import BatchQueue, work_queue
from kwokctl.controller.write_errors import ErrorKind, error_kind, wait_after
from kwokctl.dataplane.events.object_event import ObjectEvent
from kwokctl.dataplane.port import ObjectKey, Patch
from kwokctl.errors import RequestError
from kwokctl.faults.overlays.open_entries import OpenEntry
from kwokctl.faults.overlays.slice_overlay import (
    DRIVER,
    SLICE_JOURNAL,
    SliceChange,
    are_complete,
    concern_slices,
    slice_changes,
)
from kwokctl.kube.client import PatchType
from kwokctl.kube.resource import NODES, RESOURCE_SLICES
from kwokctl.retry import backoff
from kwokctl.tasks import beside

log = logging.getLogger(__name__)

_WRITES_TOGETHER = 4
_AGAIN = 1.0
_AGAIN_MOST = 60.0
"""Seconds until slices that are not there yet are looked for again, first and after several times."""


class _Work:
    """A node whose slices are to be looked at."""

    __slots__ = ("node", "queue", "shown", "tries")

    def __init__(self, node: str, queue: BatchQueue["_Work"]) -> None:
        self.node = node
        self.queue = queue
        self.tries = 0
        self.shown: Sequence[OpenEntry] | None = None
        """The faults that those slices show which are there, while others are waited for."""

    def on_due(self) -> None:
        self.queue.put(self)


class SliceFaults:
    """The slices of the nodes that this controller holds, and for whose GPUs it stands in for the DRA driver.

    A node without faults costs no request of its own. Slices that still show faults of an earlier controller are found by
    their label, with one request for all nodes that come to this controller together.
    """

    def __init__(self, context: ControllerContext, nodes: NodeRegistry) -> None:
        """Follow `nodes`."""
        self._context = context
        self._nodes = nodes
        self._queue: BatchQueue[_Work] = work_queue(self._work, _WRITES_TOGETHER)
        self._waiting: dict[str, _Work] = {}
        self._known: dict[str, str] = {}
        """The uids, by name, of the nodes whose slices were searched, or will be."""
        self._overlaid: set[str] = set()
        """The names of nodes whose slices show faults."""
        self._told: dict[str, tuple[str, ...]] = {}
        self._searches = asyncio.Event()
        nodes.listen(self)

    async def run(self) -> None:
        """Write until cancelled."""
        async with beside(self._queue.run()):
            while True:
                await self._searches.wait()
                self._searches.clear()  # before the search: it does not count for nodes that come meanwhile
                await self._searched()

    def changed(self, node: ManagedNode) -> None:
        """Look at a node that may be written to from now on."""
        self.described(node)

    def turned(self, node: ManagedNode) -> None:
        """Look at a node whose kubelet is back."""
        self.described(node)

    def rebooted(self, node: ManagedNode) -> None:
        """Ignore that: the slices of a node stay."""

    def described(self, node: ManagedNode) -> None:
        """Look at the slices of a node whose faults have changed."""
        drivers = node.facts.dra_drivers
        if not drivers or not node.plays_pods or DRIVER not in drivers.split(","):
            self._known.pop(node.name, None)
            return
        if concern_slices(node.facts.faults) or node.name in self._overlaid:
            self._put(node)
        if self._known.get(node.name) != node.uid:
            self._known[node.name] = node.uid
            self._searches.set()

    def gone(self, name: str) -> None:
        """Forget a node."""
        self._known.pop(name, None)  # a rewind may bring it back
        self._overlaid.discard(name)
        self._told.pop(name, None)
        if (work := self._waiting.pop(name, None)) is not None:
            self._context.delay_queue.forget(work)

    def _put(self, node: ManagedNode) -> None:
        work = self._waiting.get(node.name)
        if work is None:
            work = self._waiting[node.name] = _Work(node.name, self._queue)
            work.on_due()
        elif work.shown is not None and work.shown != node.facts.faults:
            work.shown = None
            self._context.delay_queue.put(work, 0.0)

    async def _work(self, work: _Work) -> None:
        if self._waiting.get(work.node) is not work:
            return
        node = self._nodes.get(work.node)
        facts = node.facts if node is not None else None
        work.shown = None
        try:
            is_done = node is None or not node.plays_pods or await self._show(node)
        except RequestError as e:
            self._put_off(work, e)
            return
        if self._waiting.get(work.node) is not work:  # another node has its name by now
            return
        has_changed = node is not None and node.facts is not facts
        if not is_done and not has_changed:
            self._look_again(work, facts)
            return
        del self._waiting[work.node]
        if node is not None and has_changed:
            self.described(node)

    def _put_off(self, work: _Work, error: RequestError) -> None:
        work.tries += 1
        delay = self._delay(error, work.tries, f" of node '{work.node}'")
        self._context.delay_queue.put(work, delay)

    def _look_again(self, work: _Work, facts: NodeFacts | None) -> None:
        work.shown = facts.faults if facts is not None else None
        work.tries += 1
        delay = backoff(work.tries, self._context.random, first=_AGAIN, most=_AGAIN_MOST)
        self._context.delay_queue.put(work, delay)

    def _delay(self, error: RequestError, tries: int, of: str) -> float:
        """Return the seconds until another try."""
        kind = error_kind(error)
        if kind.is_lasting and tries == 1 and not self._context.rights.is_known(error):
            log.warning("ResourceSlices%s do not show faults: %s; trying again", of, error)
        return wait_after(kind, tries, self._context.random)

    async def _searched(self) -> None:
        """Search until there is an answer."""
        for tries in count(1):
            try:
                await self._search()
            except RequestError as e:
                if error_kind(e) is ErrorKind.GONE:  # no such kind in this release
                    return
                await asyncio.sleep(self._delay(e, tries, ""))
            else:
                return

    async def _search(self) -> None:
        """Find the slices that show faults, which may have ended while no controller ran."""
        for raw in await self._context.reader.list(RESOURCE_SLICES, label_selector=SLICE_JOURNAL):
            name = orjson.loads(raw)["spec"].get("nodeName", "")
            if name:
                self._overlaid.add(name)
                if (node := self._nodes.get(name)) is not None:
                    self.described(node)

    async def _show(self, node: ManagedNode) -> bool:
        """Write the slices of a node, those of a pool together, so that it is incomplete for one write only.

        Returns False if faults concern slices that are not there yet.
        """
        selector = f"spec.nodeName={node.name}"
        raw = await self._context.reader.list(RESOURCE_SLICES, field_selector=selector)
        slices = [each for each in map(orjson.loads, raw) if each["spec"]["driver"] == DRIVER]
        found = slice_changes(slices, node.facts.faults)
        self._overlaid.add(node.name)  # until all is written, and taken back
        self._tell(node, found.problems)
        written = await asyncio.gather(
            *(self._patch(each) for each in found.changes), return_exceptions=True
        )
        if failed := [each for each in written if isinstance(each, BaseException)]:
            raise failed[0]
        if not found.overlaid:
            self._overlaid.discard(node.name)
        return are_complete(slices) or not concern_slices(node.facts.faults)

    async def _patch(self, change: SliceChange) -> None:
        target = ObjectKey(RESOURCE_SLICES, None, change.name)
        await self._context.plane.patch(
            target, Patch(document=change.document, type=PatchType.MERGE)
        )
        self._context.metrics.count("kwok_controller_writes_total", verb="patch")

    def _tell(self, node: ManagedNode, problems: tuple[str, ...]) -> None:
        """Warn of what cannot be shown, once."""
        if self._told.get(node.name, ()) == problems:
            return
        self._told[node.name] = problems
        for problem in problems:
            self._context.warnings.put(
                ObjectEvent(
                    resource=NODES,
                    about_namespace="",
                    about=node.name,
                    uid=node.uid,
                    version="",
                    type="Warning",
                    reason="FaultNotShown",
                    message=problem,
                    component=COMPONENT,
                    at=self._context.wall(),
                )
            )
