"""The lines of a record with which reactions to faults are judged: the truth of Faults, acts on nodes, repairs, schedules."""

from kwokctl.measure.record.line import Line

CHANGE_NODE, DELETE_NODE = "change node", "delete node"
EVICT_POD, DELETE_POD = "evict pod", "delete pod"
"""The effects of requests."""


class FaultTruth(Line, tag="v"):
    """The class, the start and the end of a Fault; a later line replaces an earlier one."""

    time: int
    fault: int
    """The number of the Fault."""
    severity: str
    """`benign`, `degraded` or `fatal`; empty if the class cannot be read."""
    scope: str
    """`device`, `node`, `link`, `fabric` or `pod`; likewise."""
    injected: int
    """The time of day of its start, in nanoseconds since 1970; 0 before that."""
    cleared: int
    """The time of day of its end, likewise."""
    marks: dict[str, tuple[str, ...]]
    """By dialect, what it shows on a node: `GpuMissing=True`, a taint `KEY:EFFECT`, `devices` or `pods`."""


class FaultUnitState(Line, tag="i"):
    """A unit of a Fault: hit, or showing it, or unable to."""

    time: int
    fault: int
    node: str
    gpu: int | None
    """The index of the GPU; None where no device is hit."""
    landed: float | None
    """Seconds from the start of the Fault until the unit showed all of it; None before that."""
    problem: str
    """The reason why it cannot show the fault; empty if it can."""


class NodeAct(Line, tag="A"):
    """A client has cordoned or tainted a node, or has taken that back."""

    time: int
    node: int
    """The number of the node."""
    act: int
    """The text: `cordon`, `uncordon`, `taint KEY:EFFECT`, `untaint KEY:EFFECT`."""
    manager: int
    """The text with the field manager that owns what was set; empty if the object does not say."""


class RepairState(Line, tag="R"):
    """A Repair is seen first, or has changed; a later line of the same number replaces an earlier one."""

    time: int
    number: int
    name: str
    node: str
    action: str
    phase: str
    """`Queued`, `Running`, `Succeeded`, `Failed` or `Refused`; empty before any of them."""
    trigger: str
    by: str
    accepted: int
    """The time of day, in nanoseconds since 1970; 0 before that."""
    started: int
    ended: int
    cleared: tuple[str, ...]
    """The names of the Faults that it has ended on the node."""
    left: tuple[str, ...]
    """The names of those that it has not ended."""


class ScheduleState(Line, tag="S"):
    """A FaultSchedule is seen first, or has changed; a later line of the same number replaces an earlier one."""

    time: int
    number: int
    name: str
    phase: str
    planned: int
    injected: int
    suppressed: dict[str, int]
    """By reason."""
    rate_factor: float
    time_scale: float


class WatchLag(Line, tag="P"):
    """The recorder has changed an object of its own, and received the change."""

    time: int
    """The time at which it began to send the change."""
    lag: int
    """Until the change was received: what a watch adds to a time is less than that."""


class PhaseReached(Line, tag="C"):
    """The expression of a phase holds for a node, or holds no longer."""

    time: int
    phase: int
    """The place of the phase in the header."""
    node: str
    holds: bool


class SentAct(Line, tag="K"):
    """A request that the API server's audit log has: it has changed or deleted a node, or evicted or deleted a pod."""

    time: int
    """The time at which it was received."""
    answered: int
    what: int
    """The text with what it does."""
    namespace: str
    name: str
    user: int
    """The text with the user in whose name it was sent."""
    refused: bool
    """Whether a PodDisruptionBudget has refused it."""


class GuardedPodEnds(Line, tag="B"):
    """A pod that a PodDisruptionBudget protects is to be deleted, and was not evicted."""

    time: int
    namespace: str
    name: str
    budget: str
    """The name of the budget; of several, the first one."""


IncidentLines = (
    FaultTruth | FaultUnitState | NodeAct | RepairState | ScheduleState | WatchLag | PhaseReached | SentAct | GuardedPodEnds
)  # fmt: skip
