"""The nodes of a planned fault when its time has come: which exist, and whether they can be hit."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from kwokctl.controller.faults.storms.nodes_in_repair import Repairs
from kwokctl.controller.faults.storms.open_nodes import UNSEEN
from kwokctl.controller.faults.storms.storm_objects import StormObjects
from kwokctl.controller.known_faults.open_faults import OpenFaults
from kwokctl.controller.nodes.node_registry import NodeRegistry
from kwokctl.faults.objects.fault_schema import StoredFault
from kwokctl.faults.objects.unit_rows import FaultUnit
from kwokctl.faults.storms.plan_pages import Reason
from kwokctl.faults.storms.storm_plan import PlannedFault
from kwokctl.fleet.tree import PLACE, place_of

_FATAL = "fatal"
_RACK = "rack"


class StormNode(msgspec.Struct, frozen=True):
    """A node of a planned fault that exists."""

    name: str
    uid: str
    rack: str
    """Empty for a node without a place."""


class _Made(NamedTuple):
    """A planned fault whose Fault was made, and the time of the loop at which it was."""

    planned: PlannedFault
    at: float


class HitNodes:
    """Finds the nodes of planned faults."""

    def __init__(
        self, objects: StormObjects, nodes: NodeRegistry, faults: OpenFaults, repairs: Repairs
    ) -> None:
        """Look for nodes in `nodes`, which has those that controllers of kwokctl play, and then in the cluster."""
        self._objects = objects
        self._nodes = nodes
        self._faults = faults
        self._repairs = repairs
        self._made: dict[str, _Made] = {}
        """The planned faults whose Faults were made and have no units yet, as far as is known, by uid."""
        faults.attend(self._noted)

    def add(self, uid: str, planned: PlannedFault) -> None:
        """Note a Fault that was made: its unit is broken before the watch shows that."""
        if self._is_pending(uid):
            self._made[uid] = _Made(planned, asyncio.get_running_loop().time())

    def _noted(self, uid: str) -> None:
        """Note that a Fault has changed, or is gone."""
        if uid in self._made and (uid not in self._faults.faults or not self._is_pending(uid)):
            del self._made[uid]

    async def existing(self, names: Iterable[str]) -> list[StormNode]:
        """Return those of some nodes that exist."""
        found = [await self._node(name) for name in names]
        return [node for node in found if node is not None]

    async def _node(self, name: str) -> StormNode | None:
        if (node := self._nodes.get(name)) is not None:
            return StormNode(name, node.uid, place_of(node.facts.place).get(_RACK, ""))
        body = await self._objects.node(name)
        if body is None:
            return None
        meta = body["metadata"]
        place = place_of((meta.get("annotations") or {}).get(PLACE, ""))
        return StormNode(name, meta["uid"], place.get(_RACK, ""))

    def problem(self, planned: PlannedFault, nodes: Sequence[StormNode]) -> Reason | None:
        """Return why a fault cannot come on these nodes of its unit; None if it can."""
        if not nodes:
            return "Gone"
        if all(self._repairs.is_in_repair(node.uid) for node in nodes):
            return "Repair"
        if all(self._is_broken(planned, node) for node in nodes):
            return "Broken"
        return None

    def _is_broken(self, planned: PlannedFault, node: StormNode) -> bool:
        """Return whether an open fault makes a unit unusable, or is of the same class: then another would show nothing new."""
        for made in self._pending():
            is_alike = made.class_name == planned.class_name and made.gpu in (None, planned.gpu)
            if is_alike and node.name in made.nodes:
                return True
        for uid, units in self._faults.units_on(node.uid).items():
            fault = self._faults.faults.get(uid)
            if fault is None or not self._faults.is_open(uid):
                continue
            if any(_covers(unit, planned.gpu) for unit in units) and self._counts(fault, planned):
                return True
        return False

    def _pending(self) -> Iterator[PlannedFault]:
        """Yield the planned faults whose Faults have no units yet, and forget those that no watch has shown: they are gone."""
        now = asyncio.get_running_loop().time()
        for uid, made in tuple(self._made.items()):
            if uid not in self._faults.faults and now - made.at >= UNSEEN:
                del self._made[uid]
            else:
                yield made.planned

    def _is_pending(self, uid: str) -> bool:
        """Return whether it is not known yet what a Fault has hit."""
        fault = self._faults.faults.get(uid)
        return fault is None or fault.status.phase == "Pending"

    def _counts(self, fault: StoredFault, planned: PlannedFault) -> bool:
        if fault.spec.class_name == planned.class_name:
            return True
        definition = self._faults.definition(fault)
        return definition is not None and definition.found.spec.severity == _FATAL


def _covers(unit: FaultUnit, gpu: int | None) -> bool:
    """Return whether a fault of a unit is one of a GPU, or of a node: what hits a whole node hits its GPUs, and not the other way round."""
    return not unit.pod and unit.gpu in (None, gpu)
