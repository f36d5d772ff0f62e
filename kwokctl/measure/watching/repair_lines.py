"""Turns what is seen of Repairs and FaultSchedules into lines, each of which has all that is recorded of the object."""

from collections.abc import Callable
from typing import Protocol

import msgspec

from kwokctl.kube.collections.known_objects import Metadata
from kwokctl.measure.record.incident_lines import RepairState, ScheduleState
from kwokctl.measure.record.record_lines import Lines
from kwokctl.measure.record.run_clock import wall_nanoseconds
from kwokctl.measure.watching.numbered_texts import Emit


class _Seen(Protocol):
    metadata: Metadata

    def line(self, time: int, number: int) -> Lines:
        """Return the line with all that is recorded."""
        ...


class _RepairSpec(msgspec.Struct, gc=False):
    node: str = ""
    action: str = ""


class _RepairStatus(msgspec.Struct, gc=False, rename="camel"):
    phase: str = ""
    trigger: str = ""
    by: str = ""
    accepted_at: str = ""
    started_at: str = ""
    ended_at: str = ""
    cleared: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


class SeenRepair(msgspec.Struct, gc=False):
    """The recorded fields of a Repair."""

    metadata: Metadata
    spec: _RepairSpec = msgspec.field(default_factory=_RepairSpec)
    status: _RepairStatus = msgspec.field(default_factory=_RepairStatus)

    def line(self, time: int, number: int) -> RepairState:
        """Return the line with all that is recorded."""
        spec, status = self.spec, self.status
        accepted, started, ended = map(
            wall_nanoseconds, (status.accepted_at, status.started_at, status.ended_at)
        )
        return RepairState(
            time, number, self.metadata.name, spec.node, spec.action, status.phase, status.trigger,
            status.by, accepted, started, ended, status.cleared, status.left,
        )  # fmt: skip


class _ScheduleSpec(msgspec.Struct, gc=False, rename="camel"):
    rate_factor: float = 1.0
    time_scale: float = 1.0


class _ScheduleStatus(msgspec.Struct, gc=False, rename="camel"):
    phase: str = ""
    planned: int = 0
    injected: int = 0
    suppressed_by: dict[str, int] = {}


class SeenSchedule(msgspec.Struct, gc=False):
    """The recorded fields of a FaultSchedule."""

    metadata: Metadata
    spec: _ScheduleSpec = msgspec.field(default_factory=_ScheduleSpec)
    status: _ScheduleStatus = msgspec.field(default_factory=_ScheduleStatus)

    def line(self, time: int, number: int) -> ScheduleState:
        """Return the line with all that is recorded."""
        spec, status = self.spec, self.status
        return ScheduleState(
            time, number, self.metadata.name, status.phase, status.planned, status.injected,
            {reason: count for reason, count in status.suppressed_by.items() if count},
            spec.rate_factor, spec.time_scale,
        )  # fmt: skip


class WholeStateTracker:
    """Writes a line with all that is recorded of an object, for each change of that."""

    def __init__(self, emit: Emit, plural: str, seen: type[_Seen]) -> None:
        """Write lines by `emit`; objects are read as `seen`."""
        self.plural = plural
        self.decode: Callable[[bytes | msgspec.Raw], _Seen] = msgspec.json.Decoder(seen).decode
        self._emit = emit
        self._numbers: dict[str, int] = {}
        self._lines: dict[str, Lines] = {}
        """By uid: the last line of each, with the time 0."""

    def begin(self) -> None:
        """Need nothing: objects of before count as those of now."""

    def see(self, seen: _Seen, _raw: bytes, time: int, *, listed: bool) -> None:
        """Note what an object is like."""
        uid = seen.metadata.uid
        number = self._numbers.setdefault(uid, len(self._numbers) + 1)
        state = seen.line(0, number)
        if self._lines.get(uid) != state:
            self._lines[uid] = state
            self._emit(seen.line(time, number))

    def gone(self, uid: str, time: int) -> None:
        """Need nothing: what it was last is what it came to."""


def repair_tracker(emit: Emit) -> WholeStateTracker:
    """Return the tracker of Repairs."""
    return WholeStateTracker(emit, "repairs", SeenRepair)


def schedule_tracker(emit: Emit) -> WholeStateTracker:
    """Return the tracker of FaultSchedules."""
    return WholeStateTracker(emit, "faultschedules", SeenSchedule)
