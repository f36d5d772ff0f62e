"""Keeps what is played in step with what is held: nodes won, lost and gone, and the pods on them."""

import logging
from random import Random

import msgspec

from kwokctl.controller.engine.decoded import SeenNode, SeenPod
from kwokctl.controller.engine.engine import Engine
from kwokctl.controller.nodes.registry import Hold, Nodes
from kwokctl.controller.reading import Reader
from kwokctl.controller.scheduling.delay_queue import Agenda
from kwokctl.controller.scheduling.worker_queue import WorkQueue
from kwokctl.controller.write_errors import Trouble, backoff, trouble
from kwokctl.dataplane.port import Target
from kwokctl.errors import ApiError

log = logging.getLogger(__name__)

_NODE = msgspec.json.Decoder(SeenNode)
_POD = msgspec.json.Decoder(SeenPod)
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


class Fleet:
    """The nodes with their pods, as far as this controller may write to them.

    Objects of nodes that others hold are not kept; when such a node is won they are read again.
    """

    def __init__(
        self, nodes: Nodes, reader: Reader, agenda: Agenda, random: Random, *, syncs: int = 4
    ) -> None:
        """Read the objects of at most `syncs` nodes at a time."""
        self._nodes = nodes
        self._reader = reader
        self._agenda = agenda
        self._random = random
        self._queue: WorkQueue[_Sync] = WorkQueue(self._sync, syncs)
        self.node_engine: Engine
        self.pod_engine: Engine

    async def run(self) -> None:
        """Read objects again until cancelled."""
        await self._queue.run()

    def changed(self, name: str, hold: Hold) -> None:
        """Take note that a node's lease was won or lost."""
        node = self._nodes.get(name)
        if node is None:
            return
        node.hold = hold
        if hold is Hold.FOREIGN:
            self.node_engine.park(name)
            self.gone(name)
        elif hold is Hold.HELD:
            known = [self.pod_engine.wake(key) for key in self._nodes.pods(name)]
            if not self.node_engine.wake(name) or not all(known):
                self._queue.put(_Sync(name, self._queue))

    def gone(self, name: str) -> None:
        """Leave the pods of a node alone: it is gone, or not ours any more."""
        for key in self._nodes.pods(name):
            self.pod_engine.park(key)

    async def _sync(self, sync: _Sync) -> None:
        node = self._nodes.get(sync.node)
        if node is None or node.hold is not Hold.HELD:
            return
        try:
            await self._read(sync.node)
        except ApiError as e:
            if trouble(e) is Trouble.GONE:
                return
            sync.tries += 1
            log.log(
                logging.WARNING if sync.tries == 1 else logging.DEBUG,
                "pods of node %r: %s",
                sync.node,
                e,
            )
            delay = backoff(sync.tries, self._random, first=_RETRY_FIRST, most=_RETRY_MOST)
            self._agenda.put(sync, delay)

    async def _read(self, name: str) -> None:
        entry = self.node_engine.get(name)
        if entry is not None and entry.parked:
            raw = await self._reader.get(Target(self.node_engine.resource, None, name))
            self.node_engine.note(_NODE.decode(raw), raw)
        keys = [self.pod_engine.get(key) for key in self._nodes.pods(name)]
        if any(entry is not None and entry.parked for entry in keys):
            selector = f"spec.nodeName={name}"
            for raw in await self._reader.list(self.pod_engine.resource, field_selector=selector):
                self.pod_engine.note(_POD.decode(raw), raw)
