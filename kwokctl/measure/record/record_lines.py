"""The lines of a record, version 4: docs/reference/measure-record.md describes them for other programs.

A line is a JSON array that begins with its type. Times are nanoseconds since the record began. What
recurs, such as the owner of a thousand pods, is written once and then named by its number. Fields are
added at the end of a line only; everything else needs a new version.
"""

import msgspec

from kwokctl.measure.record.fault_lines import FaultChange, FaultGone, FaultSeen
from kwokctl.measure.record.fleet_lines import FleetLines
from kwokctl.measure.record.gang_lines import GangChange, GangGone, GangSeen
from kwokctl.measure.record.incident_lines import IncidentLines
from kwokctl.measure.record.line import Line
from kwokctl.measure.record.plane_lines import ClientCount, MetricsSample, ProcessSample

VERSION = 4
FORM = "kwokctl.dev/measure-record"


class Header(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The first line, a JSON object: what was measured, and how."""

    form: str = FORM
    version: int = VERSION
    wall: str
    """The time at which it began, in UTC: the only wall time of a record."""
    kwokctl: str
    """The version that has written it."""
    scope: "RunScope"
    conditions: dict[str, str]
    """The conditions: what the cluster and the machine were like."""
    labels: tuple[str, ...] = ()
    """The labels of which values are recorded."""
    latencies: tuple[str, ...] = ()
    """The latencies of other kinds, as they were asked for."""
    topology: tuple[str, ...] = ()
    """The labels of nodes of which values are recorded."""
    metrics: tuple[str, ...] = ()
    """The metrics of components, as they were asked for, with the component that has them."""
    phases: tuple[str, ...] = ()
    """The phases of incidents, as they were asked for."""
    missing: dict[str, str] = {}
    """Why a part of the record is not there: by `jobs`, `nodes`, `requests`, `probes`, `faults`, the name of a latency or a kind of gangs,
    `processes`, `clients`, or `metrics.` and the name of a component."""
    warm_up: bool = False
    """Whether it was a run before those that count."""


class RunScope(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The objects that are of the run."""

    run: str = ""
    """The id of the loads: their objects have it as a label, or have an owner that has it."""
    selector: str = ""
    """A label selector of the user."""
    namespace: str = ""

    @property
    def takes_existing(self) -> bool:
        """Whether objects count that were there before."""
        return bool(self.selector)


class RecordText(Line, tag="t"):
    """A text that other lines name by its number: true conditions, or a message of the scheduler."""

    number: int
    text: str


class PodShape(Line, tag="s"):
    """The fields that many pods have in common."""

    number: int
    owner_kind: str
    """Of the controller; empty without one."""
    owner_name: str
    owner_uid: str
    priority: int
    requests: str
    """The requests as the scheduler counts them, such as `cpu=1,nvidia.com/gpu=8`; empty without any."""
    labels: dict[str, str]
    """Those that are recorded."""
    gang: str = ""
    """The gang that the pods name, `KIND=NAME` or `KIND=NAME:SIZE`: the kind of an object, or the key of a label or annotation."""


class PodSeen(Line, tag="p"):
    """A pod is seen for the first time."""

    time: int
    number: int
    uid: str
    namespace: str
    name: str
    shape: int
    node: str
    phase: str
    conditions: int
    """The text with the types of its true conditions, in order, parted by commas."""
    created: int
    """Its `creationTimestamp`, seconds since 1970."""
    listed: bool
    """Whether it comes from a list: then it may have been there for long."""


class PodChange(Line, tag="c"):
    """A pod has changed: what it is like now."""

    time: int
    number: int
    node: str
    phase: str
    conditions: int
    message: int = 0
    """The text why it cannot be scheduled; 0 without one."""
    going: bool = False
    """Whether it has a `deletionTimestamp`."""


class PodGone(Line, tag="d"):
    """A pod exists no longer."""

    time: int
    number: int


class JobSeen(Line, tag="j"):
    """A Job is seen for the first time."""

    time: int
    number: int
    uid: str
    namespace: str
    name: str
    owner_uid: str
    pods: int
    """The number of its pods that run at once, and so belong together: its parallelism, at most its completions."""
    labels: dict[str, str]
    state: str
    """Empty while it is active, else `Complete`, `Failed` or `Suspended`."""
    listed: bool
    training: str = ""
    """The annotation with the state of its training; empty if it has none."""


class JobChange(Line, tag="J"):
    """A Job has changed."""

    time: int
    number: int
    state: str
    pods: int
    training: str = ""


class JobGone(Line, tag="D"):
    """A Job exists no longer."""

    time: int
    number: int


class Milestone(Line, tag="o"):
    """An object of any kind has reached the beginning or the end of a latency."""

    time: int
    latency: int
    """The place of the latency in the header."""
    uid: str
    namespace: str
    name: str
    is_end: bool
    known: bool
    """Whether it was seen to reach it; else it was so when it was first seen."""


class Sent(Line, tag="a"):
    """An arrival of a load."""

    load: str
    phase: str
    index: int
    act: str
    due: int
    sent: int
    accepted: int | None
    made: tuple[str, ...]
    """The uids of what it has created."""
    refusal: str


class ApiProbe(Line, tag="q"):
    """The API server was asked whether it is there."""

    time: int
    """The time at which it was asked."""
    took: int
    """Until the answer, or until it was given up."""
    status: int
    """Of HTTP; 0 without an answer."""


class Gap(Line, tag="g"):
    """A time of which it is not known when things happened: they were received at its end."""

    begin: int
    end: int
    kind: str
    """The plural of what was not watched: `pods`, `jobs`."""
    why: str


class Behind(Line, tag="l"):
    """The recorder was late: what it had received waited."""

    time: int
    wait: int


class RunMoment(Line, tag="m"):
    """Something that concerns the run as a whole."""

    time: int
    what: str
    """`begin`: everything is watched; `end of arrivals`: loads or the command ended; `end`."""
    detail: str = ""


Lines = (
    RecordText | PodShape | PodSeen | PodChange | PodGone | JobSeen | JobChange | JobGone | Milestone | Sent
    | ApiProbe | Gap | Behind | RunMoment | FleetLines
    | GangSeen | GangChange | GangGone | MetricsSample | ProcessSample | ClientCount
    | FaultSeen | FaultChange | FaultGone | IncidentLines
)  # fmt: skip
