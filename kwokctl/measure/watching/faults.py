"""Turns what is seen of Faults into lines: when each begins to break something, and when that is over."""

import msgspec

from kwokctl.kube.collections.known_objects import Metadata
from kwokctl.measure.record.fault_lines import FaultChange, FaultGone, FaultSeen
from kwokctl.measure.watching.numbered_texts import Emit
from kwokctl.measure.watching.seen_faults import FaultTruths, SeenFaultStatus


class _SeenFaultSpec(msgspec.Struct, gc=False):
    fault_class: str = msgspec.field(name="class", default="")


_SCHEDULE = "kwokctl.dev/fault-schedule"
"""The label of a Fault with the name of the FaultSchedule that has brought it."""
_OF_REPAIR = "kwokctl.dev/repair"
"""The label of a Fault that a node shows because it is repaired: a remediator should not react to it, and no incident is counted."""


class _FaultMetadata(Metadata, gc=False):
    labels: dict[str, str] | None = None


class SeenFault(msgspec.Struct, gc=False):
    """The recorded fields of a Fault."""

    metadata: _FaultMetadata
    spec: _SeenFaultSpec = msgspec.field(default_factory=_SeenFaultSpec)
    status: SeenFaultStatus = msgspec.field(default_factory=SeenFaultStatus)


class _KnownFault(msgspec.Struct, gc=False):
    number: int
    state: tuple[str, int]
    """Its phase, and the number of its units."""


class FaultTracker:
    """Writes a line for each change of the phase of a Fault, or of the number of its units; `truths` writes what it has hit."""

    plural = "faults"

    def __init__(self, emit: Emit, truths: FaultTruths | None = None) -> None:
        """Write lines by `emit`."""
        self.decode = msgspec.json.Decoder(SeenFault).decode
        self._emit = emit
        self._truths = truths
        self._known: dict[str, _KnownFault] = {}
        self._count = 0
        self._has_begun = False

    def begin(self) -> None:
        """Take Faults that come from now on for new ones."""
        self._has_begun = True

    def see(self, fault: SeenFault, _raw: bytes, time: int, *, listed: bool) -> None:
        """Note what a Fault is like."""
        named, state = fault.metadata, (fault.status.phase, fault.status.units)
        known = self._known.get(named.uid)
        if known is None:
            self._count += 1
            self._known[named.uid] = _KnownFault(self._count, state)
            is_listed = listed or not self._has_begun
            name, of_class = named.name, fault.spec.fault_class
            schedule = (named.labels or {}).get(_SCHEDULE, "")
            self._emit(FaultSeen(time, self._count, name, of_class, *state, is_listed, schedule))
        elif known.state != state:
            known.state = state
            self._emit(FaultChange(time, known.number, *state))
        if self._truths is not None and _OF_REPAIR not in (named.labels or {}):
            self._truths.fault(self._known[named.uid].number, named.uid, fault.status, time)

    def gone(self, uid: str, time: int) -> None:
        """Note that a Fault exists no longer."""
        known = self._known.pop(uid, None)
        if known is not None:
            self._emit(FaultGone(time, known.number))
