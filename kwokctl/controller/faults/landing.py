"""Finds out from the nodes which units of a fault show it."""

from collections.abc import Callable, Collection, Mapping, Sequence

import orjson

from kwokctl.controller.known_faults.open_faults import ForeignNode, OpenFaults
from kwokctl.controller.nodes.node_registry import ManagedNode, NodeRegistry
from kwokctl.errors import ExpressionError
from kwokctl.expr.duration import parse_time
from kwokctl.faults.objects.fault_schema import ACKNOWLEDGED, StoredFault
from kwokctl.faults.objects.unit_rows import DECIMALS, LATE, FaultUnit, UnitRow
from kwokctl.faults.overlays.fault_course import Course
from kwokctl.faults.overlays.node_fields import gpus_of
from kwokctl.faults.overlays.open_entries import OpenEntry
from kwokctl.fleet.device_health import DEVICE_INVENTORY
from kwokctl.replacing import replace

GONE = "NodeGone"
"""The problem of a unit whose node does not exist any more, or was replaced."""


class Landing:
    """The units that are known to show their faults, or to be unable to, before that is reported."""

    def __init__(self, faults: OpenFaults, nodes: NodeRegistry, now: Callable[[], float]) -> None:
        """Look at `nodes`, at the time on the clock of faults that `now` returns."""
        self._faults = faults
        self._nodes = nodes
        self._now = now
        self._seen: dict[str, dict[FaultUnit, UnitRow]] = {}
        """By fault: the rows that are not stored like that."""
        self._shown: dict[str, dict[FaultUnit, Sequence[OpenEntry]]] = {}
        """By fault: what the nodes of its units showed of it at the last look."""

    def forget(self, uid: str) -> None:
        """Note that a fault is over."""
        self._seen.pop(uid, None)
        self._shown.pop(uid, None)

    def look(self, fault: StoredFault, nodes: Collection[str] | None) -> None:
        """Look at the units on these nodes, by name, that were not known to show a fault; None for all units."""
        uid = fault.metadata.uid
        seen = self._seen.get(uid, {})
        differ: dict[FaultUnit, UnitRow] = {}
        for row in self._faults.units(uid):
            if row.ended is not None:
                continue  # if it comes back, it has to be shown again
            found = known = seen.get(row.unit, row)
            if fault.spec.target.api:
                found = _acknowledged(fault, known)
            elif nodes is None or (
                (known.landed is None or known.problem)
                and (
                    row.unit.node in nodes
                    or row.unit.node_uid in self._faults.problems
                    or row.unit.node_uid in self._faults.foreign
                )
            ):
                found = self._looked_at(fault, known)
            if found != row:
                differ[row.unit] = found
        if differ:
            self._seen[uid] = differ
        else:
            self._seen.pop(uid, None)

    def rows(self, uid: str) -> Mapping[int, Sequence[UnitRow]]:
        """Return the rows of a fault as they should be stored, by the number of their page."""
        seen, endings = self._seen.get(uid, {}), self._faults.endings
        fault = self._faults.faults.get(uid)
        start = (fault.status.clock if fault is not None else None) or 0.0
        return {
            number: [
                endings.applied(uid, _kept(row, seen.get(row.unit, row)), start) for row in rows
            ]
            for number, rows in self._faults.rows(uid).items()
        }

    def _looked_at(self, fault: StoredFault, row: UnitRow) -> UnitRow:
        start = fault.status.clock
        if not self._exists(fault, row.unit):
            return replace(row, problem=GONE)
        if row.landed is not None:
            return replace(row, problem="")
        if start is None:
            return replace(row, problem=self._faults.problems.get(row.unit.node_uid, ""))
        age = max(self._now() - start, 0.0)
        entries, course = self._entries(fault, row.unit)
        late = max(row.late, self._late(fault, row.unit, course, entries, age))
        is_hit = any(each.gpu == row.unit.gpu for each in entries)
        if is_hit and course is not None and course.is_complete(entries):
            self._forget_shown(fault.metadata.uid, row.unit)
            return replace(row, landed=round(age, DECIMALS), problem="", late=late)
        problem = self._faults.problems.get(row.unit.node_uid, "")
        return replace(row, problem=problem, late=late)

    def _late(
        self,
        fault: StoredFault,
        unit: FaultUnit,
        course: Course | None,
        entries: Sequence[OpenEntry],
        age: float,
    ) -> float:
        """Return by how many seconds signals are late that have come since the last look, as it is stored.

        At the first look, such as after a restart of the controller, it is not known since when they are shown.
        """
        shown = self._shown.setdefault(fault.metadata.uid, {})
        before, shown[unit] = shown.get(unit), entries
        if before is None or course is None:
            return 0.0
        late = round(course.late(before, entries, age), DECIMALS)
        return late if late >= LATE else 0.0

    def _forget_shown(self, uid: str, unit: FaultUnit) -> None:
        shown = self._shown.get(uid, {})
        shown.pop(unit, None)
        if not shown:
            self._shown.pop(uid, None)

    def _exists(self, fault: StoredFault, unit: FaultUnit) -> bool:
        """Return whether the node of a unit is there; of one that no controller of kwokctl plays, that is not known."""
        node = self._nodes.get(unit.node)
        return fault.spec.target.foreign if node is None else node.uid == unit.node_uid

    def _entries(
        self, fault: StoredFault, unit: FaultUnit
    ) -> tuple[Sequence[OpenEntry], Course | None]:
        """Return what the node of a unit shows of a fault, and the course of the fault on the unit, if that is known."""
        node = self._nodes.get(unit.node)
        foreign = self._faults.foreign.get(unit.node_uid, _NOTHING)
        shown = foreign.entries if node is None else node.facts.faults
        entries = tuple(each for each in shown if each.uid == fault.metadata.uid)
        gpus = foreign.gpus if node is None else _gpus(node)
        return entries, self._faults.course(fault, unit, gpus)


def _acknowledged(fault: StoredFault, row: UnitRow) -> UnitRow:
    """Return the row of the API: landed since the proxy has said that it carries the fault out."""
    at = (fault.metadata.annotations or {}).get(ACKNOWLEDGED)
    if row.landed is not None or not at or not fault.status.injected_at:
        return row
    try:
        after = parse_time(at) - parse_time(fault.status.injected_at)
    except ExpressionError:
        return row
    return replace(row, landed=round(max(after, 0.0), DECIMALS))


_NOTHING = ForeignNode((), 0)


def _kept(stored: UnitRow, seen: UnitRow) -> UnitRow:
    """Return a row as it was seen, unless a repair has ended the fault on it."""
    return stored if stored.ended is not None else seen


def _gpus(node: ManagedNode) -> int:
    facts = node.facts
    return gpus_of(
        {
            "metadata": {
                "name": node.name,
                "labels": orjson.loads(facts.labels),
                "annotations": {DEVICE_INVENTORY: facts.device_inventory},
            },
            "status": {"capacity": orjson.loads(facts.capacity or b"{}")},
        }
    )
