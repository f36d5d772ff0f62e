"""Lets pods be looked at again whose node has news for them.

Their devices are not as healthy as before, or an older pod has one of them, or a fault hits them, or is over.
"""

import logging
from collections.abc import Collection

import orjson

from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.lifecycle.admission.device_claims import device_claims_of
from kwokctl.controller.lifecycle.notices import PodNotices
from kwokctl.controller.lifecycle.pod_faults.node_faults import NodeFaults
from kwokctl.controller.nodes.node_registry import ManagedNode, NodeRegistry
from kwokctl.controller.scheduling.worker_queue import BatchQueue, work_queue
from kwokctl.controller.write_errors import ErrorKind, error_kind, wait_after
from kwokctl.errors import RequestError
from kwokctl.kube.resource import PODS

log = logging.getLogger(__name__)

_READS_TOGETHER = 4


class _Look:
    """One node whose pods must be looked at."""

    __slots__ = ("is_for_all", "node", "queue", "tries")

    def __init__(self, node: str, queue: BatchQueue["_Look"], *, is_for_all: bool) -> None:
        self.node = node
        self.is_for_all = is_for_all
        """Whether its pods without devices are looked at, too."""
        self.queue = queue
        self.tries = 0

    def on_due(self) -> None:
        self.queue.put(self)


class DeviceNews:
    """The nodes of whose devices, or faults, something is new.

    Pods that wait for nothing are not kept, so they are read.
    """

    def __init__(self, context: ControllerContext, nodes: NodeRegistry, faults: NodeFaults) -> None:
        """Follow `nodes`, and let `faults` know of them."""
        self._faults = faults
        self._context = context
        self._nodes = nodes
        self._queue: BatchQueue[_Look] = work_queue(self._read, _READS_TOGETHER)
        self._health: dict[str, str] = {}
        """The annotations of the nodes that have one."""
        self._pods: PodNotices | None = None
        nodes.listen(self)

    async def run(self, pods: PodNotices) -> None:
        """Wake `pods` until cancelled."""
        self._pods = pods
        await self._queue.run()

    def put(self, node: str) -> None:
        """Look at the pods of a node soon."""
        self._queue.put(_Look(node, self._queue, is_for_all=False))

    def changed(self, node: ManagedNode) -> None:
        """Note what is said of a node that is won or lost: its pods are looked at in any case."""
        self._note(node)
        self._look_at_all(self._faults.note(node))

    def turned(self, node: ManagedNode) -> None:
        """Ignore whether the kubelet of a node is there: its pods are looked at when it is back."""

    def rebooted(self, node: ManagedNode) -> None:
        """Ignore a reboot: all pods of the node are looked at."""

    def described(self, node: ManagedNode) -> None:
        """Look at the pods of a node if its devices are not as healthy as before, or healthier, or by its faults."""
        hit = self._faults.note(node)
        self._look_at_all(hit)
        if self._note(node) and node.name not in hit:
            self.put(node.name)

    def gone(self, name: str) -> None:
        """Forget a node."""
        self._health.pop(name, None)
        self._look_at_all(self._faults.forget(name))

    def _look_at_all(self, nodes: Collection[str]) -> None:
        for each in nodes:
            self._queue.put(_Look(each, self._queue, is_for_all=True))

    def _note(self, node: ManagedNode) -> bool:
        """Note what is said of the devices of a node; return whether that is new."""
        health, before = node.facts.device_health, self._health.pop(node.name, "")
        if health:
            self._health[node.name] = health
        return health != before

    async def _read(self, look: _Look) -> None:
        node = self._nodes.get(look.node)
        if node is None or not node.plays_pods or self._pods is None:
            return  # they are looked at when it is played again
        selector = f"spec.nodeName={look.node}"
        try:
            found = await self._context.reader.list(PODS, field_selector=selector)
        except RequestError as e:
            self._put_off(look, e)
            return
        for raw in found:
            spec = orjson.loads(raw)["spec"]
            if look.is_for_all:
                self._pods.let_end(raw, self._context.wall())
            if look.is_for_all or device_claims_of(spec) or "resourceClaims" in spec:
                self._pods.look_again(raw)

    def _put_off(self, look: _Look, error: RequestError) -> None:
        kind = error_kind(error)
        if kind is ErrorKind.GONE:
            return
        look.tries += 1
        if kind.is_lasting and look.tries == 1 and not self._context.rights.is_known(error):
            log.warning("pods of node %r: %s; trying again", look.node, error)
        self._context.delay_queue.put(look, wait_after(kind, look.tries, self._context.random))
