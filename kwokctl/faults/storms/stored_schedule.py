"""The shape of the custom resource FaultSchedule as the cluster has it, with its state."""

from typing import Literal

import msgspec
from msgspec import field

from kwokctl.faults.objects.fault_schema import ObjectMeta
from kwokctl.faults.storms.schedule_schema import FaultScheduleSpec

SCHEDULE_LABEL = "kwokctl.dev/fault-schedule"
"""The label of the Faults and FaultPages of a schedule, with its name."""
SchedulePhase = Literal["Pending", "Running", "Completed", "Stopped"]
"""In this order: it has not started; faults come; its horizon is over; it was stopped."""
OVER = frozenset({"Completed", "Stopped"})


class ScheduleStatus(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The progress of a schedule; the command that runs it writes the first state, with the plan, and the controller all others."""

    phase: SchedulePhase = "Pending"
    start: float | None = None
    """The clock of faults at its start, in seconds."""
    started_at: str = ""
    """The time of day of its start, as RFC 3339 writes it, with nanoseconds."""
    ended_at: str = ""
    """The time of day at which it was completed or stopped."""
    planned: int | None = None
    """The number of faults of its plan; None before the whole plan is stored."""
    pages: int = 0
    """The number of pages with the plan."""
    nodes: int = 0
    """The number of nodes on which faults may come."""
    next: int = 0
    """The number of the first fault that was neither made nor suppressed by now."""
    injected: int = 0
    suppressed: int = 0
    suppressed_by: dict[str, int] = field(default_factory=dict)
    """The suppressed ones by reason."""
    late: int = 0
    """The number of Faults that were made more than a second late."""
    latest: float = 0.0
    """The largest of these delays, in seconds."""
    resumed: int = 0
    """The number of times that it has gone on after a rewind had put it back."""
    message: str = ""
    """The thing that it waits for; empty if it waits for nothing but the time."""


class StoredSchedule(msgspec.Struct, frozen=True, kw_only=True):
    """A FaultSchedule as the cluster has it."""

    metadata: ObjectMeta
    spec: FaultScheduleSpec
    status: ScheduleStatus = field(default_factory=ScheduleStatus)
