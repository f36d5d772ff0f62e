"""An incident: what one fault has done to one node, and the times of all that was done about it. Pure."""

from collections.abc import Mapping

import msgspec

from kwokctl.measure.record.incident_lines import RepairState

BENIGN, FATAL = "benign", "fatal"
OF_DEVICES = "device"
"""The scope of faults that break single devices of a node."""


class Incident(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A fault on a node; faults that follow from it belong to it. Times are those of the record; None for what has not happened."""

    number: int
    """The number of the Fault in the record."""
    fault: str
    schedule: str = ""
    """The FaultSchedule that has brought the fault; empty without one."""
    fault_class: str
    severity: str
    scope: str
    node: str
    gpus: tuple[int, ...] = ()
    began: int
    """The time at which it was injected, by the truth."""
    signals: Mapping[str, int] = {}
    """By dialect, the time at which its first signal was seen on the node."""
    shown: int | None = None
    """The time of the first signal of any dialect."""
    is_shown_inferred: bool = False
    """Whether that is from the truth, because nothing of it can be seen on the node."""
    acted: int | None = None
    actor: str = ""
    user: str = ""
    """The user, by the audit log; empty where that does not say."""
    act: str = ""
    cordoned: int | None = None
    """The time at which pods began to be kept away."""
    was_cordoned: bool = False
    """Whether they were kept away already when it began."""
    drained: int | None = None
    """The time at which the last pod that a drain removes was gone."""
    accepted: int | None = None
    """The time at which a repair was accepted."""
    fixed: int | None = None
    """The time at which the hardware was good, by the truth."""
    back: int | None = None
    """The time at which the node could be used as a whole."""
    cordons: int = 0
    """The number of times that pods began to be kept away, until it was back."""
    repairs: tuple[RepairState, ...] = ()
    phases: Mapping[str, int] = {}
    """By the name of a phase of the user, the time at which it was over."""
    repair_spans: tuple[tuple[int, int | None], ...] = ()
    """The times from when each was accepted to its end."""

    @property
    def is_benign(self) -> bool:
        """Whether a remediator should not react to it."""
        return self.severity == BENIGN

    @property
    def is_noticed(self) -> bool:
        """Whether a client has reacted, or the node was out of use already."""
        return self.acted is not None or self.was_cordoned

    @property
    def repaired(self) -> int | None:
        """The time at which the last repair ended; None if there was none, or one is under way."""
        ends = [end for _, end in self.repair_spans]
        return None if not ends or None in ends else max(end for end in ends if end is not None)

    @property
    def repair_time(self) -> int:
        """The time that repairs took which have ended."""
        return sum(end - begin for begin, end in self.repair_spans if end is not None)

    def is_repaired(self, time: int) -> bool:
        """Return whether a repair is under way at a time."""
        return any(
            begin <= time and (end is None or time < end) for begin, end in self.repair_spans
        )

    def is_open(self, time: int) -> bool:
        """Return whether the hardware is bad at a time."""
        return self.began <= time and (self.fixed is None or time < self.fixed)
