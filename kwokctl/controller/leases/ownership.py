"""Lets the engines play the nodes that are held, with the pods on them, and no others."""

import logging

import msgspec

from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.engine.decoded import DecodedNode, DecodedPod
from kwokctl.controller.engine.engine import StageEngine
from kwokctl.controller.lifecycle.notices import PodNotices
from kwokctl.controller.nodes.node_registry import Hold, ManagedNode, NodeRegistry
from kwokctl.controller.scheduling.worker_queue import BatchQueue, work_queue
from kwokctl.controller.write_errors import ErrorKind, error_kind
from kwokctl.dataplane.port import ObjectKey
from kwokctl.errors import RequestError
from kwokctl.retry import backoff

log = logging.getLogger(__name__)

_NODE = msgspec.json.Decoder(DecodedNode)
_POD = msgspec.json.Decoder(DecodedPod)
_RETRY_FIRST, _RETRY_MOST = 1.0, 30.0


class _Sync:
    """One node whose objects must be read again."""

    __slots__ = ("node", "queue", "tries")

    def __init__(self, node: str, queue: BatchQueue["_Sync"]) -> None:
        self.node = node
        self.queue = queue
        self.tries = 0

    def on_due(self) -> None:
        self.queue.put(self)


class Ownership:
    """The nodes with their pods, as far as this controller may write to them.

    Objects of nodes that others hold are not kept; when such a node is won they are read again.
    """

    def __init__(
        self,
        nodes: NodeRegistry,
        context: ControllerContext,
        node_engine: StageEngine,
        pod_engine: StageEngine,
        pod_notices: PodNotices,
        *,
        syncs: int = 4,
    ) -> None:
        """Follow the holds of `nodes`; read the objects of at most `syncs` nodes at a time."""
        self._nodes = nodes
        self._context = context
        self._node_engine = node_engine
        self._pod_engine = pod_engine
        self._pod_notices = pod_notices
        self._away: set[str] = set()
        """The nodes whose pods no kubelet of this controller looks after."""
        self._queue: BatchQueue[_Sync] = work_queue(self._sync, syncs)
        nodes.listen(self)

    async def run(self) -> None:
        """Read objects again until cancelled."""
        await self._queue.run()

    def changed(self, node: ManagedNode) -> None:
        """Play a node and its pods if the node is held, but not if another controller holds it."""
        name = node.name
        if node.hold is Hold.FOREIGN:
            self._away.add(name)
            self._node_engine.park(name)
            self._park_pods(name)
        elif node.hold is Hold.HELD:
            is_known = self._node_engine.wake(name)
            if not self._wake_pods(node) or not is_known:
                self._queue.put(_Sync(name, self._queue))

    def turned(self, node: ManagedNode) -> None:
        """Freeze the pods of a node while its kubelet is down."""
        if node.is_down:
            self._away.add(node.name)
        elif node.hold is Hold.HELD and not self._wake_pods(node):
            self._queue.put(_Sync(node.name, self._queue))

    def rebooted(self, node: ManagedNode) -> None:
        """End all containers of a node that have run before; all its pods are read for that."""
        at = self._context.wall()
        for key in self._nodes.pods(node.name):
            self._pod_notices.reboot(key, at)
        if node.plays_pods and not self._wake_pods(node):
            self._queue.put(_Sync(node.name, self._queue))

    def described(self, node: ManagedNode) -> None:
        """Ignore the reported properties of a node: its pods are played in any case."""

    def gone(self, name: str) -> None:
        """Stop playing the pods of a node that is gone."""
        self._away.discard(name)
        self._park_pods(name)

    def _park_pods(self, name: str) -> None:
        for key in self._nodes.pods(name):
            self._pod_engine.park(key)

    def _wake_pods(self, node: ManagedNode) -> bool:
        """Play the pods of a node if its kubelet is there; False if some must be read first."""
        if node.is_down:
            self._away.add(node.name)
            return True
        is_back, now = node.name in self._away, self._context.wall()
        self._away.discard(node.name)
        keys = self._nodes.pods(node.name)
        for key in keys if is_back else ():
            self._pod_notices.back(key, now)
        known = [self._pod_engine.wake(key) for key in keys]
        return all(known)

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
            is_new = sync.tries == 1 and not self._context.rights.is_known(e)
            log.log(
                logging.WARNING if is_new else logging.DEBUG,
                "pods of node %r: %s; trying again%s",
                sync.node,
                e,
                f"; {e.hint}" if e.hint else "",
            )
            delay = backoff(sync.tries, self._context.random, first=_RETRY_FIRST, most=_RETRY_MOST)
            self._context.delay_queue.put(sync, delay)

    async def _read(self, name: str) -> None:
        state = self._node_engine.get(name)
        if state is not None and state.parked:
            raw = await self._context.reader.get(ObjectKey(self._node_engine.resource, None, name))
            self._node_engine.note(_NODE.decode(raw), raw)
        pods = [self._pod_engine.get(key) for key in self._nodes.pods(name)]
        if any(state is not None and state.parked for state in pods):
            selector = f"spec.nodeName={name}"
            for raw in await self._context.reader.list(
                self._pod_engine.resource, field_selector=selector
            ):
                self._pod_engine.note(_POD.decode(raw), raw)
