"""The ends that repairs bring to units of faults, until the rows of the faults say so.

A repair ends a fault on one node, and its other units stay open. The repair notes that end here;
the leader of the controllers writes it into the rows with everything else that it reports of a fault.
"""

from collections.abc import Iterator, Sequence

import msgspec

from kwokctl.faults.objects.unit_rows import DECIMALS, FaultUnit, UnitRow
from kwokctl.replacing import replace


class UnitEnding(msgspec.Struct, frozen=True, kw_only=True):
    """The wanted state of the units that a fault has on one node."""

    at: float | None = None
    """The time on the clock of faults at which a repair ended it; None for units that have the fault again."""
    asleep: bool = False
    """Whether the units only look good until they are used."""
    moved_to: str = ""
    """The uid of the node that took the place of this one, and has the fault as well."""


class UnitEndings:
    """The wanted states by fault and node, both by uid."""

    def __init__(self) -> None:
        """Begin without any."""
        self._wanted: dict[str, dict[str, UnitEnding]] = {}

    def want(self, fault: str, node: str, ending: UnitEnding) -> None:
        """Have the units of a fault on a node become like this."""
        self._wanted.setdefault(fault, {})[node] = ending

    def forget(self, fault: str, node: str) -> None:
        """Note that a state is stored, or not wanted any more."""
        by_node = self._wanted.get(fault, {})
        by_node.pop(node, None)
        if not by_node:
            self._wanted.pop(fault, None)

    def clear(self) -> None:
        """Want nothing: another controller is the leader."""
        self._wanted.clear()

    def applied(self, fault: str, row: UnitRow, start: float) -> UnitRow:
        """Return a row as it is to be; `start` is the clock of faults at the start of the fault."""
        ending = self._wanted.get(fault, {}).get(row.unit.node_uid)
        if ending is None or ending.moved_to or is_like(row, ending):
            return row
        if ending.at is None:
            return replace(row, ended=None, asleep=False, landed=None)
        ended = round(max(ending.at - start, 0.0), DECIMALS)
        return replace(row, ended=ended, asleep=ending.asleep, problem="")

    def added(self, fault: str, rows: Sequence[UnitRow]) -> list[UnitRow]:
        """Return the rows that are to come beside the present ones of a fault, for nodes that took the place of others."""
        known = {row.unit for row in rows}
        by_node = self._wanted.get(fault, {})
        moved = ((row, by_node[row.unit.node_uid]) for row in rows if row.unit.node_uid in by_node)
        new = (_moved(row.unit, ending.moved_to) for row, ending in moved if ending.moved_to)
        return [UnitRow(unit=unit) for unit in new if unit not in known]


def is_like(row: UnitRow, ending: UnitEnding) -> bool:
    """Return whether a row has a wanted state that is not a move."""
    if ending.at is None:
        return row.ended is None
    return row.ended is not None and row.asleep is ending.asleep


def stored(rows: Iterator[UnitRow], node: str, ending: UnitEnding) -> bool:
    """Return whether the rows of a fault have the wanted state of the units on a node."""
    if ending.moved_to:
        return any(row.unit.node_uid == ending.moved_to for row in rows)
    return all(is_like(row, ending) for row in rows if row.unit.node_uid == node)


def _moved(unit: FaultUnit, node_uid: str) -> FaultUnit:
    return FaultUnit(node=unit.node, node_uid=node_uid, gpu=unit.gpu)
