"""The Faults of a record: when each was open."""

from collections.abc import Callable
from typing import Any

import msgspec

from kwokctl.measure.record.fault_lines import FaultChange, FaultGone, FaultSeen

_OPEN = ("Injecting", "Landed")


class FaultRecord(msgspec.Struct, gc=False, kw_only=True):
    """A Fault, and the times at which it began and ended; None if it did not."""

    name: str
    fault_class: str
    units: int
    schedule: str = ""
    began: int | None = None
    ended: int | None = None


class FaultHistory:
    """All Faults of a record, by their numbers."""

    def __init__(self) -> None:
        self.faults: dict[int, FaultRecord] = {}
        self.takers: dict[type, Callable[[Any], None]] = {
            FaultSeen: self._seen,
            FaultChange: self._change,
            FaultGone: self._gone,
        }

    def _seen(self, line: FaultSeen) -> None:
        fault = FaultRecord(
            name=line.name, fault_class=line.fault_class, units=line.units, schedule=line.schedule
        )
        self.faults[line.number] = fault
        _follow(fault, line)

    def _change(self, line: FaultChange) -> None:
        fault = self.faults[line.number]
        fault.units = line.units
        _follow(fault, line)

    def _gone(self, line: FaultGone) -> None:
        fault = self.faults[line.number]
        if fault.began is not None and fault.ended is None:
            fault.ended = line.time


def _follow(fault: FaultRecord, line: FaultSeen | FaultChange) -> None:
    if line.phase in _OPEN:
        fault.ended = None
        if fault.began is None:
            fault.began = line.time
    elif fault.began is not None and fault.ended is None:
        fault.ended = line.time
