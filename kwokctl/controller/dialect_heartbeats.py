"""Renews the heartbeats of the conditions that stacks such as node-problem-detector set, each node in its turn."""

import logging
from collections.abc import Collection, Mapping

from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.nodes.node_registry import Hold, ManagedNode, NodeRegistry
from kwokctl.controller.scheduling.worker_queue import BatchQueue, work_queue
from kwokctl.controller.write_errors import error_kind
from kwokctl.dataplane.port import DirectWriter, ObjectKey, Patch
from kwokctl.errors import RequestError
from kwokctl.expr.duration import format_time
from kwokctl.faults.classes.catalogue import FaultCatalogue
from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType
from kwokctl.kube.resource import NODES
from kwokctl.kube.stored_json import ObjectInJson

log = logging.getLogger(__name__)

_WRITERS = 4
_BEAT = "lastHeartbeatTime"


class _Beat:
    """The next heartbeat of a node."""

    __slots__ = ("heartbeats", "name")

    def __init__(self, name: str, heartbeats: "DialectHeartbeats") -> None:
        self.name = name
        self.heartbeats = heartbeats

    def on_due(self) -> None:
        self.heartbeats.put(self)


class DialectHeartbeats:
    """The nodes that this controller holds, each with the time of its next heartbeat."""

    def __init__(
        self,
        context: ControllerContext,
        nodes: NodeRegistry,
        direct: DirectWriter,
        every: float,
    ) -> None:
        """Renew the conditions of the cluster's dialects with a period of `every` seconds, only past the API server."""
        self._context = context
        self._nodes = nodes
        self._direct = direct
        self._every = every
        self._types = types_of(context.fault_dialects)
        self._queue: BatchQueue[_Beat] = work_queue(self._work, _WRITERS)
        self._beats: dict[str, _Beat] = {}
        nodes.listen(self)

    async def run(self) -> None:
        """Write until cancelled."""
        await self._queue.run()

    def put(self, beat: _Beat) -> None:
        """Write the heartbeat of a node as soon as a writer is free."""
        self._queue.put(beat)

    def changed(self, node: ManagedNode) -> None:
        """Begin with a node that is held; the first heartbeats are spread over the whole period."""
        if node.hold is Hold.HELD and node.name not in self._beats:
            beat = self._beats[node.name] = _Beat(node.name, self)
            first = self._context.random.uniform(0.0, self._every)
            self._context.delay_queue.put(beat, first)

    def turned(self, node: ManagedNode) -> None:
        """Ignore whether a kubelet is down: agents beside it still report."""

    def rebooted(self, node: ManagedNode) -> None:
        """Ignore a reboot."""

    def described(self, node: ManagedNode) -> None:
        """Ignore the properties of a node."""

    def gone(self, name: str) -> None:
        """Forget a node."""
        if (beat := self._beats.pop(name, None)) is not None:
            self._context.delay_queue.forget(beat)

    async def _work(self, beat: _Beat) -> None:
        node = self._nodes.get(beat.name)
        if self._beats.get(beat.name) is not beat or node is None:
            return
        if node.hold is not Hold.HELD:  # the controller that holds it goes on
            del self._beats[beat.name]
            return
        try:
            await self._write(node)
        except RequestError as e:
            log.debug("heartbeat of node %r: %s (%s)", beat.name, e, error_kind(e))
        if self._beats.get(beat.name) is beat:
            self._context.delay_queue.put(beat, self._every)

    async def _write(self, node: ManagedNode) -> None:
        target = ObjectKey(NODES, None, node.name)
        value = await self._direct.read(target)
        if value is None or value["metadata"].get("uid") != node.uid:
            return
        after = beaten(value, self._types, format_time(int(self._context.wall())))
        if after is None:
            return
        document: dict[str, Json] = {"status": {"conditions": after["status"]["conditions"]}}
        patch = Patch(document=document, type=PatchType.MERGE, subresource="status", result=after)
        await self._context.plane.patch(target, patch, current=value)
        self._context.metrics.count("kwok_controller_writes_total", verb="patch")


def types_of(dialects: Collection[str]) -> frozenset[str]:
    """Return the types of conditions that dialects set, by their names; those of the kubelet are not among them."""
    catalogue = FaultCatalogue()
    found = [catalogue.dialect(name).spec for name in dialects]
    return frozenset(each.type for spec in found if not spec.always for each in spec.conditions)


def beaten(node: Mapping[str, Json], types: Collection[str], at: str) -> ObjectInJson | None:
    """Return a node whose conditions of these types have a heartbeat; None if it has none of them."""
    status = node.get("status") or {}
    conditions = status.get("conditions") or []
    if not any(each.get("type") in types for each in conditions):
        return None
    renewed = [{**each, _BEAT: at} if each.get("type") in types else each for each in conditions]
    after: ObjectInJson = {**node, "status": {**status, "conditions": renewed}}  # type: ignore[typeddict-item]  # a status is plain JSON here
    return after
