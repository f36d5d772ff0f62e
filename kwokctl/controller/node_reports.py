"""Writes what kubelets say of their nodes beside Stages: pressure, resources, devices, and a new start of the machine."""

import logging
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import orjson

from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.device_reports import DeviceReports
from kwokctl.controller.engine.node_reading import PRESSURE
from kwokctl.controller.nodes.facts import PRESSURES, NodeFacts, Pressure, annotated
from kwokctl.controller.nodes.node_registry import ManagedNode, NodeRegistry
from kwokctl.controller.scheduling.worker_queue import BatchQueue, work_queue
from kwokctl.controller.stages.stage_functions import NODE_CONDITIONS
from kwokctl.controller.write_errors import ErrorKind, error_kind, wait_after
from kwokctl.dataplane.events.object_event import ObjectEvent
from kwokctl.dataplane.port import ObjectKey, Patch
from kwokctl.errors import RequestError
from kwokctl.expr.duration import format_time
from kwokctl.faults.journal import JOURNAL, overlaid_conditions
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
    if facts.shown:
        wanted -= facts.shown
    reported = [each for each in facts.reported if each not in facts.shown]
    return not wanted.issubset(facts.conditions) or not wanted.issuperset(reported)


def turns(
    annotation: str, conditions: Sequence[Mapping[str, Json]], shown: Collection[str] = ()
) -> list[Turn]:
    """Return what begins and what ends; a condition that another program has set ends by that.

    `shown` are the types of conditions that faults show: they are left alone.
    """
    wanted = annotated(annotation)
    known = {each.get("type"): each for each in conditions}
    found = []
    for pressure in PRESSURES:
        if pressure.condition in shown:
            continue
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


class _LaterReport:
    """The time at which a node has something to say, though nothing happens to it."""

    __slots__ = ("node", "reports")

    def __init__(self, node: str, reports: "NodeReports") -> None:
        self.node = node
        self.reports = reports

    def on_due(self) -> None:
        self.reports.look(self.node)


class NodeReports:
    """The nodes whose kubelets have something to say; a kubelet that is down says nothing."""

    def __init__(self, context: ControllerContext, nodes: NodeRegistry) -> None:
        """Follow `nodes`."""
        self._context = context
        self._nodes = nodes
        self._queue: BatchQueue[_Report] = work_queue(self._write, _WRITES_TOGETHER)
        self._waiting: dict[str, _Report] = {}
        self._rebooted: set[str] = set()
        self._devices = DeviceReports(context.warnings)
        self._later: dict[str, _LaterReport] = {}
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
        name, facts = node.name, node.facts
        is_news = (
            is_due(facts)
            or facts.lacks
            or name in self._rebooted
            or bool(facts.device_health or facts.device_inventory)
        )
        if is_news and node.plays_pods and name not in self._waiting:
            report = self._waiting[name] = _Report(name, self._queue)
            report.on_due()

    def look(self, name: str) -> None:
        """Look at a node whose time has come."""
        self._later.pop(name, None)
        if (node := self._nodes.get(name)) is not None:
            self.described(node)

    def gone(self, name: str) -> None:
        """Forget a node."""
        self._rebooted.discard(name)
        self._devices.forget(name)
        if (later := self._later.pop(name, None)) is not None:
            self._context.delay_queue.forget(later)
        if (report := self._waiting.pop(name, None)) is not None:
            self._context.delay_queue.forget(report)

    async def _write(self, report: _Report) -> None:
        node = self._nodes.get(report.node)
        if self._waiting.get(report.node) is not report:
            return
        if node is None or not node.plays_pods:
            del self._waiting[report.node]
            return
        facts = node.facts
        try:
            await self._say(node)
        except RequestError as e:
            self._put_off(report, e)
        else:
            self._waiting.pop(report.node, None)
            if node.facts is not facts:  # it has changed meanwhile
                self.described(node)

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
        shown = overlaid_conditions(annotations.get(JOURNAL, ""))
        if found := turns(annotations.get(PRESSURE, ""), conditions, shown):
            await self._turn(target, value, found)
        await self._complete(target, value)
        await self._say_devices(target, value)
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

    async def _say_devices(self, target: ObjectKey, value: ObjectInJson) -> None:
        """Report the devices of a node that the annotation is about, and look again when that changes."""
        now, name = self._context.wall(), target.name
        found = self._devices.patch(value, now)
        if found.status or found.annotations:
            await self._patch(target, value, found.status, found.annotations)
        if (later := self._later.pop(name, None)) is not None:
            self._context.delay_queue.forget(later)
        if found.due is not None:
            later = self._later[name] = _LaterReport(name, self)
            self._context.delay_queue.put(later, found.due - now)

    async def _patch(
        self,
        target: ObjectKey,
        value: ObjectInJson,
        status: dict[str, Json],
        annotations: Mapping[str, str | None] | None = None,
    ) -> None:
        meta: dict[str, Json] = {"uid": value["metadata"]["uid"]}
        if annotations:
            meta["annotations"] = annotations
        document = {"metadata": meta, "status": status}
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
