"""Writes what faults show on one node, and what lies beneath where they are over."""

from collections.abc import Mapping
from typing import NamedTuple

import orjson

from kwokctl.controller.controller_context import ControllerContext
from kwokctl.dataplane.events.object_event import ObjectEvent
from kwokctl.dataplane.port import ObjectKey, Patch
from kwokctl.faults.overlays.fault_events import AgentEvent, fault_events
from kwokctl.faults.overlays.node_writes import node_writes, started_anew
from kwokctl.faults.overlays.overlay import overlay
from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType
from kwokctl.kube.resource import NODES
from kwokctl.kube.stored_json import ObjectInJson


class WrittenNode(NamedTuple):
    """A node that shows its faults."""

    node: ObjectInJson
    wait: float | None
    """Seconds until it has to be written again; None if nothing is to come."""


class OverlayWriter:
    """Brings nodes to what their faults show."""

    def __init__(self, context: ControllerContext, *, past_api: bool) -> None:
        """Write as the context does, or, without `past_api`, through the API server only."""
        self._context = context
        self._past_api = past_api

    async def write(self, name: str, uid: str) -> WrittenNode | None:
        """Bring a node to what its faults show; None if there is no node with this uid. Raises RequestError and ExpressionError."""
        target = ObjectKey(NODES, None, name)
        value = await self._read(target)
        if value["metadata"].get("uid") != uid:
            return None
        shown = self._context.faults.shown(value)
        after = started_anew(value, overlay(value, shown.open, self._context.wall()))
        for event in fault_events(value, shown.open):
            await self._record(value, event)
        for write in node_writes(value, after):
            value = await self._patch(target, value, write.document, write.subresource)
        return WrittenNode(value, shown.wait)

    async def _read(self, target: ObjectKey) -> ObjectInJson:
        """Return a node as it is stored: past an API server that is busy, if it is written like that as well."""
        direct = self._context.plane.direct if self._past_api else None
        if direct is not None and (found := await direct.read(target)) is not None:
            return found
        value: ObjectInJson = orjson.loads(await self._context.reader.get(target))
        return value

    async def _patch(
        self, target: ObjectKey, value: ObjectInJson, document: dict[str, Json], subresource: str
    ) -> ObjectInJson:
        meta = value["metadata"]
        same = {"uid": meta["uid"], "resourceVersion": meta["resourceVersion"]}
        whole = {**document, "metadata": {**document.get("metadata", {}), **same}}
        patch = Patch(document=whole, type=PatchType.MERGE, subresource=subresource)
        self._context.metrics.count("kwok_controller_writes_total", verb="patch")
        current = value if self._past_api else None
        return await self._context.plane.patch(target, patch, current=current)

    async def _record(self, node: Mapping[str, Json], event: AgentEvent) -> None:
        meta = node["metadata"]
        about = ObjectEvent(
            resource=NODES,
            about_namespace="",
            about=meta["name"],
            uid=meta["uid"],
            version=meta["resourceVersion"],
            type=event.type,
            reason=event.reason,
            message=event.message,
            component=event.component,
            at=self._context.wall(),
        )
        await self._context.plane.record(about)
        self._context.metrics.count("kwok_controller_writes_total", verb="event")
