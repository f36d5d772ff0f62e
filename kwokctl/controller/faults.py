"""Writes what kubelets say of their nodes beside Stages: pressure, resources, and a new start of the machine."""

import logging
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import orjson

from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.engine.hooks import PRESSURE
from kwokctl.controller.nodes.facts import PRESSURES, NodeFacts, Pressure, annotated
from kwokctl.controller.nodes.node_registry import ManagedNode, NodeRegistry
from kwokctl.controller.scheduling.worker_queue import BatchQueue, work_queue
from kwokctl.controller.stages.stage_functions import NODE_CONDITIONS
from kwokctl.controller.write_errors import ErrorKind, error_kind, wait_after
from kwokctl.dataplane.events.object_event import ObjectEvent
from kwokctl.dataplane.port import ObjectKey, Patch
from kwokctl.errors import RequestError
from kwokctl.expr.duration import format_time
from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType
from kwokctl.kube.resource import NODES
from kwokctl.kube.stored_json import ObjectInJson

_HEALTHY = {kind: (status, reason, message) for kind, status, reason, message in NODE_CONDITIONS}


class Turn(NamedTuple):
    """A pressure that begins or ends."""

    pressure: Pressure
    begins: bool

    @property
    def event(self) -> str:
        """The reason of the Event about it."""
        return self.pressure.event if self.begins else self.pressure.relief

    def condition(self, now: float) -> dict[str, Json]:
        """Return the condition from now on."""
        pressure, at = self.pressure, format_time(now)
        sick = ("True", pressure.reason, pressure.message)
        status, reason, message = sick if self.begins else _HEALTHY[pressure.condition]
        return {
            "type": pressure.condition,
            "status": status,
            "reason": reason,
            "message": message,
            "lastHeartbeatTime": at,
            "lastTransitionTime": at,
        }


def is_due(facts: NodeFacts) -> bool:
    """Return whether the conditions of a node are not what its annotation says."""
    wanted = annotated(facts.pressure)
    if not wanted and not facts.reported:
        return False
    return not wanted.issubset(facts.conditions) or not wanted.issuperset(facts.reported)


def turns(annotation: str, conditions: Sequence[Mapping[str, Json]]) -> list[Turn]:
    """Return what begins and what ends; a condition that another program has set ends by that."""
    wanted = annotated(annotation)
    known = {each.get("type"): each for each in conditions}
    found = []
    for pressure in PRESSURES:
        have = known.get(pressure.condition, {})
        if pressure.condition in wanted:
            if have.get("status") != "True":
                found.append(Turn(pressure, begins=True))
        elif have.get("reason") == pressure.reason:
            found.append(Turn(pressure, begins=False))
    return found


log = logging.getLogger(__name__)

_WRITES_TOGETHER = 4
_COMPONENT = "kubelet"


class _Report:
    """A report that is due about one node."""

    __slots__ = ("node", "queue", "tries")

    def __init__(self, node: str, queue: BatchQueue["_Report"]) -> None:
        self.node = node
        self.queue = queue
        self.tries = 0

    def on_due(self) -> None:
        self.queue.put(self)


class NodeReports:
    """The nodes whose kubelets have something to say; a kubelet that is down says nothing."""

    def __init__(self, context: ControllerContext, nodes: NodeRegistry) -> None:
        """Follow `nodes`."""
        self._context = context
        self._nodes = nodes
        self._queue: BatchQueue[_Report] = work_queue(self._write, _WRITES_TOGETHER)
        self._waiting: dict[str, _Report] = {}
        self._rebooted: set[str] = set()
        nodes.listen(self)

    async def run(self) -> None:
        """Write until cancelled."""
        await self._queue.run()

    def changed(self, node: ManagedNode) -> None:
        """Look at a node that may be written to from now on."""
        self.described(node)

    def turned(self, node: ManagedNode) -> None:
        """Look at a node whose kubelet is back."""
        self.described(node)

    def rebooted(self, node: ManagedNode) -> None:
        """Report that a node was rebooted."""
        self._rebooted.add(node.name)
        self.described(node)

    def described(self, node: ManagedNode) -> None:
        """Report what is not said yet."""
        name = node.name
        is_news = is_due(node.facts) or node.facts.lacks or name in self._rebooted
        if is_news and node.plays_pods and name not in self._waiting:
            report = self._waiting[name] = _Report(name, self._queue)
            report.on_due()

    def gone(self, name: str) -> None:
        """Forget a node."""
        self._rebooted.discard(name)
        if (report := self._waiting.pop(name, None)) is not None:
            self._context.delay_queue.forget(report)

    async def _write(self, report: _Report) -> None:
        node = self._nodes.get(report.node)
        if self._waiting.get(report.node) is not report:
            return
        if node is None or not node.plays_pods:
            del self._waiting[report.node]
            return
        try:
            await self._say(node)
        except RequestError as e:
            self._put_off(report, e)
        else:
            self._waiting.pop(report.node, None)

    def _put_off(self, report: _Report, error: RequestError) -> None:
        kind = error_kind(error)
        if kind is ErrorKind.GONE:
            self._waiting.pop(report.node, None)
            return
        report.tries += 1
        if kind.is_lasting and report.tries == 1 and not self._context.rights.is_known(error):
            log.warning("status of node %r: %s; trying again", report.node, error)
        delay = wait_after(kind, report.tries, self._context.random)
        self._context.delay_queue.put(report, delay)

    async def _say(self, node: ManagedNode) -> None:
        target = ObjectKey(NODES, None, node.name)
        value = orjson.loads(await self._context.reader.get(target))
        if value["metadata"].get("uid") != node.uid:
            return
        annotations = value["metadata"].get("annotations") or {}
        conditions = value.get("status", {}).get("conditions") or ()
        if found := turns(annotations.get(PRESSURE, ""), conditions):
            await self._turn(target, value, found)
        await self._complete(target, value)
        if node.name in self._rebooted:
            boot_id = value["status"]["nodeInfo"]["bootID"]
            message = f"Node {node.name} has been rebooted, boot id: {boot_id}"
            await self._record(value, "Rebooted", message, "Warning")
            self._rebooted.discard(node.name)

    async def _complete(self, target: ObjectKey, value: ObjectInJson) -> None:
        """Make allocatable what was added to a node's capacity, as a device plugin or a test does."""
        status = value.get("status") or {}
        allocatable = status.get("allocatable") or {}
        capacity: dict[str, str] = status.get("capacity") or {}
        missing = {name: much for name, much in capacity.items() if name not in allocatable}
        if not allocatable or not missing:
            return
        await self._patch(target, value, {"allocatable": missing})

    async def _patch(self, target: ObjectKey, value: ObjectInJson, status: dict[str, Json]) -> None:
        document = {"metadata": {"uid": value["metadata"]["uid"]}, "status": status}
        patch = Patch(document=document, type=PatchType.STRATEGIC, subresource="status")
        await self._context.plane.patch(target, patch)
        self._context.metrics.count("kwok_controller_writes_total", verb="patch")

    async def _turn(self, target: ObjectKey, value: ObjectInJson, found: list[Turn]) -> None:
        now = self._context.wall()
        await self._patch(target, value, {"conditions": [each.condition(now) for each in found]})
        for each in found:
            await self._record(value, each.event, f"Node {target.name} status is now: {each.event}")

    async def _record(
        self, value: ObjectInJson, reason: str, message: str, kind: str = "Normal"
    ) -> None:
        metadata = value["metadata"]
        event = ObjectEvent(
            resource=NODES,
            about_namespace="",
            about=metadata["name"],
            uid=metadata["uid"],
            version=metadata["resourceVersion"],
            type=kind,
            reason=reason,
            message=message,
            component=_COMPONENT,
            at=self._context.wall(),
        )
        await self._context.plane.record(event)
        self._context.metrics.count("kwok_controller_writes_total", verb="event")
