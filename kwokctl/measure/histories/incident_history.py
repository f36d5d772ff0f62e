"""The lines of a record about reactions to faults: the truth of Faults, acts on nodes, repairs and schedules."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from kwokctl.measure.record.incident_lines import (
    FaultTruth,
    FaultUnitState,
    GuardedPodEnds,
    NodeAct,
    PhaseReached,
    RepairState,
    ScheduleState,
    SentAct,
    WatchLag,
)
from kwokctl.measure.record.run_clock import wall_nanoseconds


class DoneAct(msgspec.Struct, frozen=True, gc=False):
    """An act on a node."""

    time: int
    node: int
    """The number of the node."""
    act: str
    manager: str


class DoneRequest(msgspec.Struct, frozen=True, gc=False):
    """A request on a node or a pod, as an audit log has it."""

    begin: int
    end: int
    what: str
    namespace: str
    name: str
    user: str
    is_refused: bool


class IncidentHistory:
    """All such lines of a record."""

    def __init__(self, texts: Mapping[int, str], wall: str) -> None:
        """Read the numbers of texts by `texts`; the record began at the time of day `wall`."""
        self.truths: dict[int, FaultTruth] = {}
        """By the number of the Fault."""
        self.units: dict[int, dict[tuple[str, int | None], FaultUnitState]] = {}
        """By the number of the Fault, and node and GPU."""
        self.acts: list[DoneAct] = []
        self.requests: list[DoneRequest] = []
        """Those on nodes and pods, in the order of their answers; empty without an audit log."""
        self.guarded: list[GuardedPodEnds] = []
        self.repairs: dict[int, RepairState] = {}
        self.schedules: dict[int, ScheduleState] = {}
        self.lags: list[int] = []
        """Nanoseconds."""
        self.phases: dict[int, dict[str, list[PhaseReached]]] = {}
        """By the place of the phase in the header, and by node."""
        self.last = 0
        """The time at which the watch was probed last."""
        self._texts = texts
        self._wall = wall_nanoseconds(wall)
        self.takers: Mapping[type, Callable[[Any], None]] = {
            FaultTruth: self._truth,
            FaultUnitState: self._unit,
            NodeAct: self._act,
            RepairState: self._repair,
            ScheduleState: self._schedule,
            WatchLag: self._lag,
            PhaseReached: self._phase,
            SentAct: self._request,
            GuardedPodEnds: self.guarded.append,
        }

    def time_of(self, wall: int) -> int | None:
        """Return the time in the record of a time of day in nanoseconds since 1970; None for 0."""
        return wall - self._wall if wall and self._wall else None

    def wall_of(self, time: int) -> int:
        """Return the time of day of a time in the record, in nanoseconds since 1970; 0 if it is not known."""
        return time + self._wall if self._wall else 0

    def _truth(self, line: FaultTruth) -> None:
        self.truths[line.fault] = line

    def _unit(self, line: FaultUnitState) -> None:
        self.units.setdefault(line.fault, {})[line.node, line.gpu] = line

    def _act(self, line: NodeAct) -> None:
        texts = self._texts
        self.acts.append(DoneAct(line.time, line.node, texts[line.act], texts[line.manager]))

    def _request(self, line: SentAct) -> None:
        what, user = self._texts[line.what], self._texts[line.user]
        named = (line.namespace, line.name)
        self.requests.append(
            DoneRequest(line.time, line.answered, what, *named, user, line.refused)
        )

    def _repair(self, line: RepairState) -> None:
        self.repairs[line.number] = line

    def _schedule(self, line: ScheduleState) -> None:
        self.schedules[line.number] = line

    def _lag(self, line: WatchLag) -> None:
        self.lags.append(line.lag)
        self.last = line.time

    def _phase(self, line: PhaseReached) -> None:
        self.phases.setdefault(line.phase, {}).setdefault(line.node, []).append(line)
