"""The shape of the document FaultSchedule, `kwokctl.dev/v1alpha1`, as its author writes it."""

from typing import Annotated

from msgspec import Meta, field

from kwokctl.config.document_kinds import FAULT_SCHEDULE, OWN
from kwokctl.draws.drawn import exactly_one
from kwokctl.faults.classes.class_schema import FaultPart, Word
from kwokctl.json_value import Json

Factor = Annotated[float, Meta(gt=0)]
Share = Annotated[str, Meta(pattern=r"^(100|[0-9]{1,2}(\.[0-9]+)?)%$")]
"""A number of a hundred."""
Level = Annotated[str, Meta(pattern="^(zone|core|spine|leaf|rack)$")]


class PoissonGap(FaultPart, frozen=True, kw_only=True):
    """Faults of a unit that do not depend on each other: exactly one of the fields is given."""

    mean: str = ""
    """The mean time between two faults of one unit, such as 50000h."""
    per_day: float | None = None
    """The mean number of faults of one unit a day, such as 1.67e-4."""

    def __post_init__(self) -> None:
        """Raise ValueError unless exactly one field is given."""
        if bool(self.mean) is (self.per_day is not None):
            raise ValueError("either 'mean' or 'perDay' is needed")
        if self.per_day is not None and self.per_day <= 0:
            raise ValueError("'perDay' must be more than 0")


class WeibullGap(FaultPart, frozen=True, kw_only=True):
    """Times between faults of a unit that are more often short (shape below 1), or are much alike (above 1)."""

    shape: Factor
    scale: Word
    """The time within which 63.2 % of all units have failed."""


class FixedGap(FaultPart, frozen=True, kw_only=True):
    """The same time between all faults of a process, each on a unit that is drawn."""

    gap: Word
    first: str = ""
    """The time of the first one; without it, that of the gap."""


class TracedFault(FaultPart, frozen=True, kw_only=True):
    """A fault at a time that is given."""

    at: Word
    unit: str = ""
    """The unit that it hits, as `fault plan` names it; without one, it is drawn."""


class FaultGaps(FaultPart, frozen=True, kw_only=True):
    """The times of a process: exactly one of the fields is given."""

    poisson: PoissonGap | None = None
    weibull: WeibullGap | None = None
    fixed: FixedGap | None = None
    trace: tuple[TracedFault, ...] | None = None

    def __post_init__(self) -> None:
        """Raise ValueError unless exactly one field is given."""
        exactly_one(self, self.__struct_fields__)


class LogNormalTime(FaultPart, frozen=True, kw_only=True):
    """The log-normal distribution of a time, by two of its percentiles."""

    p50: Word
    p95: Word


class ExponentialTime(FaultPart, frozen=True, kw_only=True):
    """The exponential distribution of a time."""

    mean: Word


class UniformTime(FaultPart, frozen=True, kw_only=True):
    """Any time between two, each as often as the others."""

    least: Word = field(name="from")
    most: Word = field(name="to")


class DrawnTime(FaultPart, frozen=True, kw_only=True):
    """A time that is drawn for each fault: exactly one of the fields is given."""

    lognormal: LogNormalTime | None = None
    exponential: ExponentialTime | None = None
    uniform: UniformTime | None = None

    def __post_init__(self) -> None:
        """Raise ValueError unless exactly one field is given."""
        exactly_one(self, self.__struct_fields__)


class FaultProcess(FaultPart, frozen=True, kw_only=True):
    """Faults of one class that come again and again."""

    name: str = ""
    """Its name, which its draws depend on; without one, that of the class. No two processes may have the same."""
    class_name: Word = field(name="class")
    every: FaultGaps
    lasts: str | DrawnTime = field(name="for", default="")
    """The time from start to end of each fault; without one, that of the class, or until it is cleared."""
    unit: Level | None = None
    """The level of the fleet whose units fail as a whole: a class of nodes then hits all nodes of one."""
    parameters: dict[str, Json] = field(default_factory=dict)
    gang: bool = False


class Lemons(FaultPart, frozen=True, kw_only=True):
    """Nodes that fail more often than others."""

    fraction: Annotated[float, Meta(ge=0, le=1)]
    factor: Annotated[float, Meta(ge=1)]
    """The factor of their rates."""


class StormLimits(FaultPart, frozen=True, kw_only=True):
    """The most nodes that are hit at a time; a fault that would exceed them is suppressed, and never shifted."""

    max_open: Annotated[int, Meta(ge=1)] | Share | None = None
    """The most nodes with open faults of the schedule: a number, or a share of the nodes of its target, such as `5%`."""
    per_rack: Annotated[int, Meta(ge=1)] | None = None
    """The most nodes of one rack with open faults of the schedule."""


class ScheduleTarget(FaultPart, frozen=True, kw_only=True):
    """The nodes on which faults may come."""

    nodes: tuple[Word, ...] = ()
    unit: str = ""
    where: str = ""


class FaultScheduleSpec(FaultPart, frozen=True, kw_only=True):
    """A storm: which faults come how often, for how long."""

    horizon: Word
    """The time after which no fault begins, on the clock of the schedule."""
    seed: int = 0
    profile: str = ""
    """The processes of a published fleet, before those that are given."""
    processes: tuple[FaultProcess, ...] = ()
    target: ScheduleTarget = field(default_factory=ScheduleTarget)
    dialects: tuple[Word, ...] = ()
    rate_factor: Factor = 1.0
    """The factor of all rates: with 2, random faults come twice as often; those at given times do not."""
    time_scale: Factor = 1.0
    """The speed of the schedule's clock: times, lengths, and delays of signals are shorter by it; other programs keep their clocks."""
    lemons: Lemons | None = None
    limits: StormLimits = field(default_factory=StormLimits)
    stop: bool = False
    """Whether no further faults are to come; those that are open stay."""


class FaultScheduleShape(FaultPart, frozen=True, kw_only=True):
    """A whole document."""

    spec: FaultScheduleSpec
    api_version: str = OWN
    kind: str = FAULT_SCHEDULE
    metadata: dict[str, Json] = field(default_factory=dict)
    status: Json = None


SHAPED = ((FAULT_SCHEDULE, OWN, FaultScheduleShape),)
"""The kind, for the schema of documents."""
