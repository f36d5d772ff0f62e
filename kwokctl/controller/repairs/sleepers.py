"""Wakes faults that a repair has not ended, and that are not seen until the node is used."""

from kwokctl.controller.known_faults.open_faults import OpenFaults
from kwokctl.controller.known_faults.unit_endings import UnitEnding
from kwokctl.controller.repairs.repair_objects import RepairObjects
from kwokctl.faults.objects.unit_rows import FaultUnit
from kwokctl.faults.targets.candidates import candidate


class Sleepers:
    """The units that only look good."""

    def __init__(self, faults: OpenFaults, objects: RepairObjects) -> None:
        """Look at the units of `faults`."""
        self._faults = faults
        self._objects = objects
        self._waking: set[tuple[str, str]] = set()
        """The faults and nodes, by uid, whose units are to show again."""

    async def look(self) -> bool:
        """Wake the units that are in use; return whether some are left. Raises RequestError if the cluster refuses."""
        asleep: dict[str, list[tuple[str, FaultUnit]]] = {}
        for uid, row in self._faults.asleep():
            if self._faults.is_open(uid):
                asleep.setdefault(row.unit.node, []).append((uid, row.unit))
        sleeping = {(uid, unit.node_uid) for some in asleep.values() for uid, unit in some}
        for uid, node in self._waking - sleeping:
            self._faults.endings.forget(uid, node)
        self._waking &= sleeping
        for name, some in asleep.items():
            await self._look_at(name, some)
        return bool(sleeping)

    async def _look_at(self, name: str, units: list[tuple[str, FaultUnit]]) -> None:
        value = await self._objects.node(name)
        if value is None:
            return
        node = candidate(value, await self._objects.pods_on(name))
        for uid, unit in units:
            if unit.node_uid != node.uid:  # another node has its name by now
                continue
            in_use = node.is_busy if unit.gpu is None else unit.gpu in node.in_use
            if in_use:
                self._waking.add((uid, unit.node_uid))
                self._faults.end(uid, unit.node_uid, UnitEnding())
