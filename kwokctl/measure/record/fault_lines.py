"""The lines of a record about Faults: what was broken while it was measured."""

from kwokctl.measure.record.line import Line


class FaultSeen(Line, tag="f"):
    """A Fault is seen for the first time."""

    time: int
    number: int
    name: str
    fault_class: str
    phase: str
    """`Pending`, `Injecting`, `Landed`, `Cleared` or `Refused`."""
    units: int
    """The number of units that it hits."""
    listed: bool
    """Whether it comes from a list: then it may have been so for long."""
    schedule: str = ""
    """The FaultSchedule that has brought it; empty for one that no schedule has brought."""


class FaultChange(Line, tag="F"):
    """A Fault has changed."""

    time: int
    number: int
    phase: str
    units: int


class FaultGone(Line, tag="E"):
    """A Fault exists no longer."""

    time: int
    number: int
