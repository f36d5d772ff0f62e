"""Lets the engines play the nodes that are held, with the pods on them, and no others."""

import logging
from dataclasses import dataclass
from random import Random

import msgspec

from kwokctl.controller.engine.decoded import DecodedNode, DecodedPod
from kwokctl.controller.engine.engine import StageEngine
from kwokctl.controller.nodes.registry import Hold, ManagedNode, NodeRegistry
from kwokctl.controller.object_reader import ObjectReader
from kwokctl.controller.scheduling.delay_queue import DelayQueue
from kwokctl.controller.scheduling.worker_queue import WorkQueue
from kwokctl.controller.write_errors import ErrorKind, backoff, error_kind
from kwokctl.dataplane.port import ObjectKey
from kwokctl.errors import RequestError

log = logging.getLogger(__name__)

_NODE = msgspec.json.Decoder(DecodedNode)
_POD = msgspec.json.Decoder(DecodedPod)
_RETRY_FIRST, _RETRY_MOST = 1.0, 30.0


class _Sync:
    """One node whose objects must be read again."""

    __slots__ = ("node", "queue", "tries")

    def __init__(self, node: str, queue: "WorkQueue[_Sync]") -> None:
        self.node = node
        self.queue = queue
        self.tries = 0

    def on_due(self) -> None:
        self.queue.put(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Engines:
    """The engines of nodes and of pods."""

    nodes: StageEngine
    pods: StageEngine


class Ownership:
    """The nodes with their pods, as far as this controller may write to them.

    Objects of nodes that others hold are not kept; when such a node is won they are read again.
    """

    def __init__(
        self,
        nodes: NodeRegistry,
        engines: Engines,
        reader: ObjectReader,
        delay_queue: DelayQueue,
        random: Random,
        *,
        syncs: int = 4,
    ) -> None:
        """Follow the holds of `nodes`; read the objects of at most `syncs` nodes at a time."""
        self._nodes = nodes
        self._engines = engines
        self._reader = reader
        self._delay_queue = delay_queue
        self._random = random
        self._queue: WorkQueue[_Sync] = WorkQueue(self._sync, syncs)
        nodes.listen(self)

    async def run(self) -> None:
        """Read objects again until cancelled."""
        await self._queue.run()

    def changed(self, node: ManagedNode) -> None:
        """Play a node and its pods if the node is held, none of them if another controller holds it."""
        name = node.name
        if node.hold is Hold.FOREIGN:
            self._engines.nodes.park(name)
            self.gone(name)
        elif node.hold is Hold.HELD:
            known = [self._engines.pods.wake(key) for key in self._nodes.pods(name)]
            if not self._engines.nodes.wake(name) or not all(known):
                self._queue.put(_Sync(name, self._queue))

    def gone(self, name: str) -> None:
        """Leave the pods of a node alone, which is gone or held by another controller."""
        for key in self._nodes.pods(name):
            self._engines.pods.park(key)

    async def _sync(self, sync: _Sync) -> None:
        node = self._nodes.get(sync.node)
        if node is None or node.hold is not Hold.HELD:
            return
        try:
            await self._read(sync.node)
        except RequestError as e:
            if error_kind(e) is ErrorKind.GONE:
                return
            sync.tries += 1
            log.log(
                logging.WARNING if sync.tries == 1 else logging.DEBUG,
                "pods of node %r: %s",
                sync.node,
                e,
            )
            delay = backoff(sync.tries, self._random, first=_RETRY_FIRST, most=_RETRY_MOST)
            self._delay_queue.put(sync, delay)

    async def _read(self, name: str) -> None:
        state = self._engines.nodes.get(name)
        if state is not None and state.parked:
            raw = await self._reader.get(ObjectKey(self._engines.nodes.resource, None, name))
            self._engines.nodes.note(_NODE.decode(raw), raw)
        pods = [self._engines.pods.get(key) for key in self._nodes.pods(name)]
        if any(state is not None and state.parked for state in pods):
            selector = f"spec.nodeName={name}"
            for raw in await self._reader.list(
                self._engines.pods.resource, field_selector=selector
            ):
                self._engines.pods.note(_POD.decode(raw), raw)
