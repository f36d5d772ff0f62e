"""Injects Faults: resolves the target of each once, and stores the units that it hits."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TypedDict

import msgspec
import orjson

from kwokctl.controller.faults.fault_objects import FaultObjects, page_name
from kwokctl.controller.faults.managed_candidates import (
    MANY,
    ManagedCandidates,
    is_enough,
    managed_candidate,
)
from kwokctl.controller.known_faults.open_faults import OpenFaults
from kwokctl.controller.nodes.node_registry import NodeRegistry
from kwokctl.controller.object_reader import ObjectReader
from kwokctl.dataplane.port import ObjectKey
from kwokctl.errors import ApiError, KwokctlError, RequestError
from kwokctl.expr.duration import format_time
from kwokctl.faults.classes.catalogue import FaultCatalogue, FaultClass
from kwokctl.faults.fault_checks import check_fault
from kwokctl.faults.objects.fault_schema import (
    FaultSpec,
    StoredFault,
)
from kwokctl.faults.objects.row_pages import IN_STATUS, paged
from kwokctl.faults.objects.status_conditions import condition, with_condition
from kwokctl.faults.objects.unit_rows import UnitRow, row_text
from kwokctl.faults.overlays.definitions import definition_name, definition_of
from kwokctl.faults.targets.candidates import CandidateNode, candidate
from kwokctl.faults.targets.newcomers import units_of_newcomer
from kwokctl.faults.targets.target_selection import API, Selected, select
from kwokctl.json_value import Json
from kwokctl.kube.resource import NODES, PODS
from kwokctl.replacing import replace

_FEW = 50
"""The largest number of named nodes that are read one by one; for more, all nodes are listed."""
_NOT_THERE = 404


class Injecting:
    """Injects Faults whose time has come."""

    def __init__(
        self,
        objects: FaultObjects,
        reader: ObjectReader,
        nodes: NodeRegistry,
        faults: OpenFaults,
        wall: Callable[[], float],
        usual_dialects: Sequence[str] = (),
    ) -> None:
        """Hit the managed `nodes`, and others only where a Fault says so."""
        self._objects = objects
        self._reader = reader
        self._nodes = nodes
        self._faults = faults
        self._wall = wall
        self._usual_dialects = usual_dialects
        self._managed = ManagedCandidates(nodes)
        self._drawing = asyncio.Lock()
        self._defining = asyncio.Lock()
        """Held while it is decided whether a page is stored or removed."""

    def tidy(self) -> None:
        """Free what was kept for further injections, if none has needed it since the last call."""
        self._managed.tidy()

    async def remove_unneeded(self, page: str) -> None:
        """Remove a page, by its name, if there is still no Fault: one that has come meanwhile may need it."""
        async with self._defining:
            if not self._faults.faults:
                await self._objects.remove_page(page)
                # The watch of pages may tell of it later than the next Fault comes.
                self._faults.drop_page(page)

    async def inject(self, fault: StoredFault) -> None:
        """Inject a fault, or refuse it; raises RequestError if the cluster does not answer as expected."""
        try:
            catalogue = FaultCatalogue(await self._objects.documents_for(fault.spec.class_name))
            check_fault(fault.spec, catalogue)
            definition = definition_of(
                catalogue, fault.spec.class_name, fault.spec.dialects, self._usual_dialects
            )
            found = catalogue.find(fault.spec.class_name)
            selected = await self._selected(found, fault.spec)
        except RequestError:
            raise
        except KwokctlError as e:
            message = f"{e}; {e.hint}" if e.hint else str(e)
            await self._refuse(fault, "Invalid", message)
            return
        if not selected.units and not fault.spec.target.follow:
            words = "; ".join(filter(None, (selected.problem, selected.hint)))
            await self._refuse(fault, "NoMatch", words, len(selected.foreign))
            return
        name = definition_name(definition)
        async with self._defining:
            if not self._faults.has_definition(name):
                await self._objects.put_definition(name, definition)
        await self._begin(fault, name, selected)

    async def add(self, fault: StoredFault, node: str) -> Sequence[UnitRow]:
        """Return the units of a node that came after the selection, and that a fault which follows hits.

        The definition of the fault must be known.
        """
        definition = self._faults.definition(fault)
        try:
            raw = await self._reader.get(ObjectKey(NODES, None, node))
        except ApiError as e:
            if e.status == _NOT_THERE:
                return ()
            raise
        if definition is None:
            return ()
        found = units_of_newcomer(
            definition.found, fault.spec, self._candidate(orjson.loads(raw), ())
        )
        return tuple(UnitRow(unit=each) for each in found)

    async def _begin(self, fault: StoredFault, definition: str, selected: Selected) -> None:
        """Store the units, then the status that makes them count."""
        pages = paged([UnitRow(unit=each) for each in selected.units])
        own = pages.pop(IN_STATUS, [])
        for page, rows in pages.items():
            known = self._faults.page_version(page_name(fault.metadata, page))
            await self._objects.put_page(fault, page, [row_text(row) for row in rows], known)
        now = self._wall()
        at = format_time(now, nanos=True)
        number = len(selected.units)
        units = "1 unit" if number == 1 else f"{number} units"
        status = replace(
            fault.status,
            phase="Injecting" if number else "Landed",
            injected_at=at,
            clock=self._faults.clock.now(),
            definition=definition,
            units=number,
            foreign=len(selected.foreign),
            pages=len(pages),
            rows=tuple(row_text(row) for row in own),
            reproducible=selected.is_reproducible,
            conditions=with_condition(
                fault.status.conditions,
                condition("Selected", "TargetResolved", units, format_time(now)),
            ),
        )
        await self._objects.put_status(fault, status)

    async def _refuse(
        self, fault: StoredFault, reason: str, message: str, foreign: int = 0
    ) -> None:
        at = format_time(self._wall())
        conditions = with_condition(
            fault.status.conditions, condition("Selected", reason, message, at, status=False)
        )
        if reason == "NoMatch":
            conditions = with_condition(conditions, condition("NoMatch", reason, message, at))
        status = replace(fault.status, phase="Refused", conditions=conditions, foreign=foreign)
        await self._objects.put_status(fault, status)

    async def _selected(self, found: FaultClass, spec: FaultSpec) -> Selected:
        """Choose the units; among many nodes that takes parts of a second, in which this process does its other work, too."""
        if found.spec.scope == API:
            return select(found, spec, ())
        async with (
            self._drawing
        ):  # several threads would leave little of the processor to the others
            candidates = await self._candidates(found, spec)
            if len(candidates) < MANY:
                return select(found, spec, candidates)
            return await asyncio.to_thread(select, found, spec, candidates)

    async def _candidates(self, found: FaultClass, spec: FaultSpec) -> list[CandidateNode]:
        """Return the nodes from which a target is chosen, with their pods if the selection depends on them."""
        target = spec.target
        needs_pods = found.spec.scope == "pod" or target.usage != "any" or bool(target.where)
        names = [*dict.fromkeys(target.nodes)]
        is_named = 0 < len(names) <= _FEW and found.spec.unit is None
        if not needs_pods and is_enough(target):
            if is_named and (managed := self._named(names)):
                return managed
            if not target.nodes and await self._plays_all():
                return await self._managed.all()
        nodes: list[Mapping[str, Json]] = []
        if is_named:
            nodes = [node for name in names if (node := await self._node(name))]
        if not nodes:  # also where none of the named ones exists: the nearest one is named
            nodes = [_node_read(raw) async for page in self._reader.pages(NODES) for raw in page]
        pods: dict[str, list[Json]] = {}
        if needs_pods:
            async for page in self._reader.pages(PODS):
                for pod in map(orjson.loads, page):
                    pods.setdefault(pod["spec"].get("nodeName", ""), []).append(pod)
        return [self._candidate(node, pods.get(node["metadata"]["name"], ())) for node in nodes]

    def _named(self, names: Sequence[str]) -> list[CandidateNode]:
        """Return the nodes with these names if this controller plays all of them."""
        found = [node for name in names if (node := self._nodes.get(name)) is not None]
        if len(found) < len(names):
            return []
        return [managed_candidate(node.name, node.uid, node.facts) for node in found]

    async def _plays_all(self) -> bool:
        """Return whether this controller plays all nodes of the cluster: those of others are counted."""
        return await self._objects.count_nodes() == len(self._nodes)

    def _candidate(self, node: Mapping[str, Json], pods: Sequence[Json]) -> CandidateNode:
        managed = self._nodes.get(node["metadata"]["name"])
        is_ours = managed is not None and managed.uid == node["metadata"]["uid"]
        return candidate(node, pods, is_ours=is_ours)

    async def _node(self, name: str) -> Mapping[str, Json] | None:
        try:
            return _node_read(await self._reader.get(ObjectKey(NODES, None, name)))
        except ApiError as e:
            if e.status != _NOT_THERE:
                raise
            return None


class _NodeMetadata(TypedDict, total=False):
    name: str
    uid: str
    labels: dict[str, str]
    annotations: dict[str, str]


class _NodeStatus(TypedDict, total=False):
    capacity: dict[str, str]
    conditions: list[dict[str, str]]


class _Node(TypedDict, total=False):
    """The fields of a node on which a selection may depend: decoding them takes a fifth of the time of all."""

    metadata: _NodeMetadata
    spec: dict[str, Json]
    status: _NodeStatus


_node_read = msgspec.json.Decoder(_Node).decode
