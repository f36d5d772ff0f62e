"""Joins what Faults and FaultPages say, in whichever order they come: the units that are hit, and what is shown of them."""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from kwokctl.errors import KwokctlError
from kwokctl.faults.classes.catalogue import FaultClass, FaultDialect
from kwokctl.faults.classes.class_schema import FaultSignal
from kwokctl.faults.objects.fault_schema import FaultDefinition, FaultPageSpec
from kwokctl.faults.objects.unit_rows import read_row
from kwokctl.faults.overlays.definitions import read_definition
from kwokctl.faults.overlays.fault_course import ClassDefinition
from kwokctl.kube.collections.known_objects import Metadata
from kwokctl.measure.record.incident_lines import FaultTruth, FaultUnitState
from kwokctl.measure.record.run_clock import wall_nanoseconds
from kwokctl.measure.watching.numbered_texts import Emit

KUBELET = "kubelet"
"""The name under which the marks of a kubelet stand that is not Ready: no dialect has it."""
DEVICES, PODS = "devices", "pods"
"""The marks of a node whose allocatable devices have become fewer, and of a fault that shows on pods only."""
_NOT_READY = ("Ready=False", "Ready=Unknown")
_UnitKey = tuple[int, str, int | None, str]
Marks = Mapping[str, tuple[str, ...]]


class SeenFaultStatus(msgspec.Struct, gc=False, rename="camel"):
    """The recorded fields of the status of a Fault."""

    phase: str = "Pending"
    units: int = 0
    injected_at: str = ""
    cleared_at: str = ""
    definition: str = ""
    rows: tuple[str, ...] = ()


class SeenFaultPage(msgspec.Struct, gc=False):
    """The recorded fields of a FaultPage."""

    metadata: Metadata
    spec: FaultPageSpec = msgspec.field(default_factory=FaultPageSpec)


class _KnownClass(msgspec.Struct, frozen=True):
    severity: str
    scope: str
    marks: Marks


_UNREAD = _KnownClass("", "", {})


class FaultTruths:
    """Writes a line for each change of what Faults have hit, and of what is known of their classes."""

    def __init__(self, emit: Emit) -> None:
        """Write lines by `emit`."""
        self._emit = emit
        self._classes: dict[str, _KnownClass] = {}
        """By the names of their definitions."""
        self._faults: dict[int, SeenFaultStatus] = {}
        self._numbers: dict[str, int] = {}
        """Of Faults, by uid."""
        self._written: dict[int, tuple[str, int, int]] = {}
        """By Fault: the definition whose class was written, the start, and the end."""
        self._units: dict[_UnitKey, tuple[float | None, str]] = {}
        self._early: dict[str, dict[str, tuple[str, ...]]] = {}
        """By the uid of a Fault that is not known yet: the rows of its pages, by page."""

    def fault(self, number: int, uid: str, status: SeenFaultStatus, time: int) -> None:
        """Note the status of a Fault."""
        self._faults[number] = status
        if uid not in self._numbers:
            self._numbers[uid] = number
            for rows in self._early.pop(uid, {}).values():
                self._rows(number, rows, time)
        self._write(number, time)
        self._rows(number, status.rows, time)

    def page(self, page: SeenFaultPage, time: int) -> None:
        """Note a page: rows of a Fault, or the definition of a class."""
        spec = page.spec
        if spec.definition is not None:
            self._classes[page.metadata.name] = _read(spec.definition)
            for number, status in self._faults.items():
                if status.definition == page.metadata.name:
                    self._write(number, time)
        known = self._numbers.get(spec.fault)
        if known is not None:
            self._rows(known, spec.rows, time)
        elif spec.rows:
            self._early.setdefault(spec.fault, {})[page.metadata.name] = spec.rows

    def _write(self, number: int, time: int) -> None:
        """Write the truth of a Fault that has begun, if it is not what was written last."""
        status = self._faults[number]
        injected, cleared = (
            wall_nanoseconds(status.injected_at),
            wall_nanoseconds(status.cleared_at),
        )
        known = status.definition if status.definition in self._classes else ""
        if not injected or self._written.get(number) == (known, injected, cleared):
            return
        self._written[number] = (known, injected, cleared)
        found = self._classes.get(known, _UNREAD)
        marks = dict(found.marks)
        self._emit(FaultTruth(time, number, found.severity, found.scope, injected, cleared, marks))

    def _rows(self, number: int, rows: Iterable[str], time: int) -> None:
        for text in rows:
            row = read_row(text)
            if row is None:
                continue
            unit = row.unit
            key = (number, unit.node_uid, unit.gpu, unit.pod_uid)
            state = (row.landed, row.problem)
            if self._units.get(key) != state:
                self._units[key] = state
                self._emit(FaultUnitState(time, number, unit.node, unit.gpu, *state))


class FaultPageTracker:
    """Notes the pages of Faults; the lines are those of `FaultTruths`."""

    plural = "faultpages"

    def __init__(self, truths: FaultTruths) -> None:
        """Show pages to `truths`."""
        self.decode = msgspec.json.Decoder(SeenFaultPage).decode
        self._truths = truths

    def begin(self) -> None:
        """Need nothing: pages of before count as those of now."""

    def see(self, page: SeenFaultPage, _raw: bytes, time: int, *, listed: bool) -> None:
        """Note what a page has."""
        self._truths.page(page, time)

    def gone(self, uid: str, time: int) -> None:
        """Need nothing: what a page has said is known."""


def _read(definition: FaultDefinition) -> _KnownClass:
    """Return what is recorded of a class; nothing of one that cannot be read, such as one of a later version."""
    try:
        found = read_definition(definition)
    except (KwokctlError, KeyError, msgspec.MsgspecError):
        return _UNREAD
    spec = found.found.spec
    return _KnownClass(spec.severity, spec.scope, marks_of(found))


def marks_of(definition: ClassDefinition) -> Marks:
    """Return what each dialect shows of a class, and of those that follow from it, on the node itself."""
    classes = (definition.found, *definition.classes.values())
    shown = {
        dialect.name: tuple(dict.fromkeys(_of_dialect(classes, dialect)))
        for dialect in definition.dialects
    }
    if any(each.spec.effects.kubelet not in (None, "late") for each in classes):
        shown[KUBELET] = _NOT_READY
    if not any(shown.values()) and definition.found.spec.scope == "pod":
        return {PODS: (PODS,)}
    return {name: marks for name, marks in shown.items() if marks}


def _of_dialect(classes: Iterable[FaultClass], dialect: FaultDialect) -> Iterator[str]:
    for each in classes:
        for signal in each.spec.signals.get(dialect.name, ()):
            yield from _of_signal(signal, dialect.spec.bad_status)


def _of_signal(signal: FaultSignal, bad_status: str) -> Iterator[str]:
    for condition in signal.conditions:
        yield f"{condition.type}={condition.status or bad_status}"
    yield from (f"{each.key}:{each.effect}" for each in signal.taints)
    if signal.devices:
        yield DEVICES
