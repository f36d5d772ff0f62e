"""The shapes of what a Load says of the times of its arrivals."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from msgspec import Meta, field

from kwokctl.draws.drawn import exactly_one
from kwokctl.load.description.rhythms import Bursts, Every, Moments, Poisson, Ramp, Rhythm
from kwokctl.load.description.strict import LoadPart, Positive, Word
from kwokctl.load.description.units import per_second, period, seconds


class BurstShape(LoadPart, frozen=True, kw_only=True):
    """Several arrivals at a time, and again after a while."""

    size: Positive
    every: str

    @property
    def rhythm(self) -> Bursts:
        """When they are due; ValueError for a time that is not one."""
        return Bursts(self.size, period(self.every, "every"))


class RateRampShape(LoadPart, frozen=True, kw_only=True):
    """A rate that grows, or shrinks, evenly; then it stays as it is."""

    first: str = field(name="from")
    last: str = field(name="to")
    over: str

    @property
    def rhythm(self) -> Ramp:
        """When arrivals are due; ValueError for wrong rates and times."""
        first, last = per_second(self.first, "from"), per_second(self.last, "to")
        return Ramp(first, last, period(self.over, "over"))


_RHYTHMS: Mapping[str, Callable[[Any], Rhythm]] = {
    "every": lambda text: Every(period(text, "every")),
    "poisson": lambda text: Poisson(per_second(text, "poisson")),
    "burst": lambda shape: shape.rhythm,
    "at": lambda texts: Moments(tuple(seconds(each, "at") for each in texts)),
    "ramp": lambda shape: shape.rhythm,
}


class ArrivalsShape(LoadPart, frozen=True, kw_only=True):
    """When arrivals are due: exactly one of the fields is given."""

    every: str | None = None
    """The time between two."""
    poisson: str | None = None
    """The mean rate of arrivals that do not depend on each other."""
    burst: BurstShape | None = None
    at: Annotated[tuple[str, ...], Meta(min_length=1)] | None = None
    """Times since the load began."""
    ramp: RateRampShape | None = None
    trace: Word | None = None
    """A file that says when: CSV, JSON lines, or what `snapshot record` writes."""
    concurrency: Positive | None = None
    """How many arrivals are open at a time: one that ends makes the next one due."""

    def __post_init__(self) -> None:
        """Raise ValueError unless there is one rhythm."""
        exactly_one(self, self.__struct_fields__)
        _ = self.rhythm

    @property
    def rhythm(self) -> Rhythm | None:
        """The times, where the document gives them by a rule; ValueError for a wrong one."""
        given = (name for name in _RHYTHMS if getattr(self, name) is not None)
        return next((_RHYTHMS[name](getattr(self, name)) for name in given), None)

    @property
    def ends(self) -> bool:
        """Whether they end by themselves."""
        return self.trace is not None or (self.rhythm is not None and self.rhythm.lasts is not None)
