"""Decides each planned fault of a schedule when its time has come: it is made, or suppressed for a reason."""

import asyncio
import logging

from kwokctl.controller.faults.storms.hit_nodes import StormNode
from kwokctl.controller.faults.storms.open_nodes import OpenNodes, may_be_open
from kwokctl.controller.faults.storms.storm_parts import StormParts
from kwokctl.errors import RequestError
from kwokctl.expr.duration import format_time
from kwokctl.faults.objects.fault_schema import ObjectMeta, StoredFault
from kwokctl.faults.storms.plan_pages import Reason, SuppressedFault
from kwokctl.faults.storms.stored_schedule import StoredSchedule
from kwokctl.faults.storms.storm_faults import fault_name, owning_schedule, storm_fault
from kwokctl.faults.storms.storm_plan import PlannedFault

log = logging.getLogger(__name__)

_SKEW = 60.0
"""Seconds that the clock of the previous leader may be ahead."""
_REFUSED = frozenset({400, 422})


class StormDecisions:
    """Decides the faults of one schedule, in the order of the plan."""

    def __init__(self, parts: StormParts) -> None:
        """Decide with the parts of all players; `begin` must be called before."""
        self._parts = parts
        self._faults = parts.context.faults
        self._open: OpenNodes | None = None
        self._unsure = -1
        """The number of a fault whose Fault may have been made without an answer."""
        self._sure = float("-inf")
        """The clock of faults: what is due after it was made by no controller before."""
        self.uncounted: dict[str, str] = {}
        """The Faults that the stored status does not count yet: their names by uid."""

    async def begin(self, stored: StoredSchedule) -> None:
        """Begin, or go on where another controller, or a schedule that was put back, is."""
        self.uncounted.clear()
        self._open = await self._open_nodes(stored)
        self._sure = self._faults.clock.now() + _SKEW

    async def decide(
        self, stored: StoredSchedule, number: int, fault: PlannedFault, late: float
    ) -> float | SuppressedFault:
        """Make a Fault, and return how many seconds after its time it came, or suppress it; `late` are the seconds by now."""
        nodes = await self._parts.nodes.existing(fault.nodes)
        if (made := await self._was_made(stored.metadata, number, late)) is not None:
            self._note_open(made, fault, nodes)
            began = made.status.clock
            return 0.0 if began is None else late - (self._faults.clock.now() - began)
        reason = self._reason(fault, nodes)
        if reason is None:
            self._unsure = number
            reason = await self._make(stored, number, fault, nodes)
        if reason is None:
            return late
        return SuppressedFault(
            number=number,
            at=fault.at,
            class_name=fault.class_name,
            unit=fault.unit,
            reason=reason,
            wall=format_time(self._parts.context.wall(), nanos=True),
        )

    async def _open_nodes(self, stored: StoredSchedule) -> OpenNodes:
        """Return the nodes that open faults of the schedule hit."""
        now = asyncio.get_running_loop().time
        found = OpenNodes(self._faults, stored.spec.limits, stored.status.nodes, now)
        if found.are_limited:
            for fault in tuple(self._faults.faults.values()):
                owner = owning_schedule(fault.metadata)
                is_its = owner is not None and owner.uid == stored.metadata.uid
                if is_its and may_be_open(self._faults, fault):
                    nodes = await self._parts.nodes.existing(fault.spec.target.nodes)
                    found.add(fault.metadata.uid, _racks(nodes))
        return found

    async def _was_made(self, meta: ObjectMeta, number: int, late: float) -> StoredFault | None:
        """Return the Fault of a number that was made before, by a controller that was killed then, or without an answer.

        It must be looked for before the unit is: that is broken by this very Fault.
        """
        if number != self._unsure and self._faults.clock.now() - late > self._sure:
            return None
        return await self._parts.objects.fault(fault_name(meta.name, number), meta)

    def _reason(self, fault: PlannedFault, nodes: list[StormNode]) -> Reason | None:
        """Return why a fault is suppressed; None if it is to come."""
        found = self._parts.nodes.problem(fault, nodes)
        if found is None and self._open is not None:
            found = self._open.problem(_racks(nodes))
        return found

    async def _make(
        self, stored: StoredSchedule, number: int, fault: PlannedFault, nodes: list[StormNode]
    ) -> Reason | None:
        """Make the Fault; return why it cannot be made."""
        meta, spec = stored.metadata, stored.spec
        body = storm_fault(meta, spec, fault, number, [node.name for node in nodes])
        name = fault_name(meta.name, number)
        try:
            made = await self._parts.objects.make_fault(body, meta)
        except RequestError as e:
            if e.status not in _REFUSED:
                raise
            log.warning("schedule %r: the Fault %r is refused: %s", meta.name, name, e)
            return "Refused"
        if made is None:
            log.warning("schedule %r: there is another Fault %r", meta.name, name)
            return "Refused"
        self._note_open(made, fault, nodes)
        return None

    def _note_open(self, made: StoredFault, fault: PlannedFault, nodes: list[StormNode]) -> None:
        self.uncounted[made.metadata.uid] = made.metadata.name
        self._parts.nodes.add(made.metadata.uid, fault)
        if self._open is not None:
            self._open.add(made.metadata.uid, _racks(nodes))


def _racks(nodes: list[StormNode]) -> dict[str, str]:
    return {node.name: node.rack for node in nodes}
