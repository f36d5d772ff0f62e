"""The log of faults: what happened to which unit, and when, from what the cluster stores of them. Pure.

A user judges detectors and remedies with it, so it says what was injected, and not what was noticed.

Times are seconds after the start of the fault. Those of signals are the times at which they are due, which follow from the seed. So the
logs of equal faults on nodes of the same names are equal but for the times of day, and for uids.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from kwokctl.expr.duration import format_time, parse_duration, parse_time
from kwokctl.faults.classes.class_schema import FaultSignal
from kwokctl.faults.objects.fault_schema import StoredFault
from kwokctl.faults.objects.unit_rows import FaultUnit, UnitRow
from kwokctl.faults.overlays.fault_course import (
    ClassDefinition,
    Course,
    CoursePart,
    class_length,
    course_of,
    injected_fault,
)

TruthPhase = Literal[
    "suppressed", "injected", "followed", "signal", "landed", "failed", "cleared"
]  # fmt: skip
"""In this order: a planned fault was left out; the fault began; another followed from it; a dialect shows it; all of it is shown; it cannot be shown; it
is over."""
_PHASES: Mapping[str, int] = {
    "suppressed": -1,
    "injected": 0,
    "followed": 1,
    "signal": 2,
    "landed": 3,
    "failed": 4,
    "cleared": 5,
}


class TruthEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the log."""

    t: float
    """Seconds after the start of the fault."""
    wall: str
    """The time of day, as RFC 3339 writes it; empty if it is not known."""
    fault: str
    uid: str
    class_name: str = msgspec.field(name="class")
    """The class of the fault, or of the one that followed from it."""
    phase: TruthPhase
    node: str
    gpu: int | None = None
    pod: str = ""
    dialect: str = ""
    signal: str = ""
    """The conditions, Events and so on that the dialect shows, or the reason why the fault cannot be shown."""
    late: float = 0.0
    """The delay of the latest signal of a unit that has landed after it was due, in seconds, as the controller saw it; 0 below a second."""


class Happening(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the log, with that of the fault which it is about."""

    entry: TruthEntry
    part: CoursePart | None = None
    """The fault itself, or the one that followed from it; None if it cannot be read any more."""
    signal: FaultSignal | None = None
    """The signal that a dialect shows; None for a line about something else."""
    ended: tuple["Happening", ...] = ()
    """The signals that are shown no longer; none if the line is not about an end."""


class KnownFault(msgspec.Struct, frozen=True, kw_only=True):
    """A fault that has begun, as the cluster stores it."""

    fault: StoredFault
    definition: ClassDefinition | None
    """None if it cannot be read any more: the log has no signals of the fault then."""
    rows: Sequence[UnitRow]
    gpus: Mapping[str, int]
    """The number of GPUs by node."""
    age: float
    """Seconds from its start until now, on the clock of faults."""


def truth(known: KnownFault) -> Sequence[TruthEntry]:
    """Return what has happened to the units of a fault by now, in the order of the times."""
    return [each.entry for each in happenings(known)]


def happenings(known: KnownFault) -> Sequence[Happening]:
    """Return the lines of `truth`, each with what it is about."""
    start = _start(known.fault)
    if start is None:
        return ()
    found = [each for row in _with_first(known.rows) for each in _of_row(known, row, start)]
    return sorted(found, key=lambda each: _order(each.entry))


class _Row(msgspec.Struct, frozen=True):
    row: UnitRow
    shows: bool
    """Whether the signals of its node are in the log with it: of several pods of a node, with the first."""


def _with_first(rows: Sequence[UnitRow]) -> Iterator[_Row]:
    seen: set[str] = set()
    for row in rows:
        yield _Row(row, not row.unit.pod or row.unit.node not in seen)
        seen.add(row.unit.node)


def _of_row(known: KnownFault, each: _Row, start: float) -> Iterator[Happening]:
    row, course = each.row, _course(known, each.row.unit)
    first = course.parts[0] if course is not None else None
    end = _end(known, start)
    is_repaired = row.ended is not None and not row.asleep
    until = min(
        each for each in (known.age, end, row.ended if is_repaired else None) if each is not None
    )
    shown = tuple(_shown(known, row.unit, course, until, start)) if course and each.shows else ()
    yield Happening(entry=_entry(known, row.unit, "injected", 0.0, start), part=first)
    yield from shown
    last = max(course.times, default=0.0) if course is not None else 0.0
    if row.landed is not None:
        # It is due with the last signal; the time of day is that at which the controller saw it.
        entry = _entry(known, row.unit, "landed", last, start)
        entry = msgspec.structs.replace(entry, wall=_at(start + row.landed), late=row.late)
        yield Happening(entry=entry, part=first)
    elif row.problem:
        entry = _entry(known, row.unit, "failed", 0.0, start)
        entry = msgspec.structs.replace(entry, wall="", signal=row.problem)
        yield Happening(entry=entry, part=first)
    if is_repaired:
        entry = _entry(known, row.unit, "cleared", until, start)
        ended = tuple(signal for signal in shown if signal.signal is not None)
        yield Happening(entry=entry, part=first, ended=ended)
    elif known.fault.status.cleared_at and end is not None:
        entry = _entry(known, row.unit, "cleared", end, start)
        entry = msgspec.structs.replace(entry, wall=known.fault.status.cleared_at)
        ended = tuple(signal for signal in shown if signal.signal is not None)
        yield Happening(entry=entry, part=first, ended=ended)


def _shown(
    known: KnownFault, unit: FaultUnit, course: Course, until: float, start: float
) -> Iterator[Happening]:
    for number, part in enumerate(course.parts):
        if part.begins > until:
            continue
        if number:
            entry = _entry(known, unit, "followed", part.begins, start)
            yield Happening(entry=_of_part(entry, part), part=part)
        for time, due in part.signals:
            if time <= until:
                entry = _of_part(_entry(known, unit, "signal", time, start), part)
                words = ", ".join(signal_words(due.signal))
                entry = msgspec.structs.replace(entry, dialect=due.dialect.name, signal=words)
                yield Happening(entry=entry, part=part, signal=due.signal)


def cleared_by_deletion(known: KnownFault, wall: float) -> Iterator[Happening]:
    """Yield the ends of the units of a fault that does not exist any more.

    `known` is the fault as it was last, `wall` the time of day at which it was found to be gone.
    """
    start = _start(known.fault)
    if start is None or known.fault.status.cleared_at:  # its ends were said
        return
    for row in _with_first(known.rows):
        if row.row.ended is not None and not row.row.asleep:  # a repair was first
            continue
        before = tuple(_of_row(known, row, start))
        entry = _entry(known, row.row.unit, "cleared", known.age, start)
        ended = tuple(each for each in before if each.signal is not None)
        yield Happening(
            entry=msgspec.structs.replace(entry, wall=_at(wall)), part=before[0].part, ended=ended
        )


def _of_part(entry: TruthEntry, part: CoursePart) -> TruthEntry:
    return msgspec.structs.replace(
        entry, class_name=part.found.name, gpu=part.parameters.get("gpu")
    )


def signal_words(signal: FaultSignal) -> Iterator[str]:
    """Yield what a signal shows, in short: `condition GpuMissing`, `event NodeHasXid`; texts are as the class has them."""
    for condition in signal.conditions:
        yield (
            f"condition {condition.type}={condition.status}"
            if condition.status
            else (f"condition {condition.type}")
        )
    yield from (f"event {each.reason}" for each in signal.events)
    yield from (f"taint {each.key}:{each.effect}" for each in signal.taints)
    yield from (f"label {key}" for key in signal.labels)
    yield from (f"annotation {key}" for key in signal.annotations)
    yield from (f"device taint {each.key}:{each.effect}" for each in signal.device_taints)
    if signal.devices:
        yield f"device {signal.devices}"


def _course(known: KnownFault, unit: FaultUnit) -> Course | None:
    fault, definition = known.fault, known.definition
    if definition is None or fault.status.clock is None:
        return None
    meta = fault.metadata
    injected = injected_fault(fault.spec, name=meta.name, uid=meta.uid, since=fault.status.clock)
    hit = FaultUnit(node=unit.node, node_uid=unit.node_uid) if unit.pod else unit
    return course_of(definition, injected, hit, gpus=known.gpus.get(unit.node, 0))


def _entry(
    known: KnownFault, unit: FaultUnit, phase: TruthPhase, at: float, start: float
) -> TruthEntry:
    meta = known.fault.metadata
    return TruthEntry(
        t=round(at, 3),
        wall=_at(start + at),
        fault=meta.name,
        uid=meta.uid,
        class_name=known.fault.spec.class_name,
        phase=phase,
        node=unit.node,
        gpu=unit.gpu,
        pod=unit.pod,
    )


def _start(fault: StoredFault) -> float | None:
    """Return the time of day of its start; None if it has not begun."""
    if fault.status.clock is None or not fault.status.injected_at:
        return None
    return parse_time(fault.status.injected_at)


def _end(known: KnownFault, start: float) -> float | None:
    """Return how many seconds after its start a fault ends; None if nothing but its deletion ends it."""
    spec, definition = known.fault.spec, known.definition
    ends = [parse_duration(spec.lasts)] if spec.lasts else []
    if not spec.lasts and not spec.until and definition is not None:
        ends += filter(None, [class_length(definition, spec)])
    if spec.until:
        ends.append(parse_time(spec.until) - start)
    return min(ends, default=None)


def _order(entry: TruthEntry) -> tuple[float, int, str, int, str]:
    gpu = -1 if entry.gpu is None else entry.gpu
    return entry.t, _PHASES[entry.phase], entry.node, gpu, entry.pod


def _at(seconds: float) -> str:
    return format_time(seconds, nanos=True)
