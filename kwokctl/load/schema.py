"""The shape of a Load document, `kwokctl.dev/v1alpha1`, as its author writes it."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, field

from kwokctl.config.kinds import LOAD, OWN
from kwokctl.draws.drawn import Drawn, exactly_one
from kwokctl.json_value import Json
from kwokctl.load.arrivals import Bursts, Every, Moments, Poisson, Ramp, Rhythm
from kwokctl.load.units import per_second, period, seconds

Positive = Annotated[int, Meta(ge=1)]
Amount = Annotated[float, Meta(gt=0)]
Param = Drawn | str | int | float | bool | list[Json] | None
"""A constant, or what is drawn for each arrival."""
ACTS = ("create",)


class _Shape(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="camel"):
    """The base of all parts of a Load: a field that they do not name is an error."""


class BurstShape(_Shape, frozen=True, kw_only=True):
    """Several arrivals at a time, and again after a while."""

    size: Positive
    every: str

    @property
    def rhythm(self) -> Bursts:
        """Their rhythm; ValueError for an invalid time."""
        return Bursts(self.size, period(self.every, "every"))


class RampShape(_Shape, frozen=True, kw_only=True):
    """A rate that grows, or shrinks, evenly; then it stays as it is."""

    first: str = field(name="from")
    last: str = field(name="to")
    over: str

    @property
    def rhythm(self) -> Ramp:
        """The rhythm of arrivals; ValueError for invalid rates and times."""
        first, last = per_second(self.first, "from"), per_second(self.last, "to")
        return Ramp(first, last, period(self.over, "over"))


_RHYTHMS: Mapping[str, Callable[[Any], Rhythm]] = {
    "every": lambda text: Every(period(text, "every")),
    "poisson": lambda text: Poisson(per_second(text, "poisson")),
    "burst": lambda shape: shape.rhythm,
    "at": lambda texts: Moments(tuple(seconds(each, "at") for each in texts)),
    "ramp": lambda shape: shape.rhythm,
}


class ArrivalsShape(_Shape, frozen=True, kw_only=True):
    """When arrivals are due: exactly one of the fields is given."""

    every: str | None = None
    """The time between two."""
    poisson: str | None = None
    """The mean rate of arrivals that do not depend on each other."""
    burst: BurstShape | None = None
    at: Annotated[tuple[str, ...], Meta(min_length=1)] | None = None
    """Times since the load began."""
    ramp: RampShape | None = None

    def __post_init__(self) -> None:
        """Raise ValueError unless there is one rhythm."""
        _ = self.rhythm

    @property
    def rhythm(self) -> Rhythm:
        """The one that is given."""
        name = exactly_one(self, tuple(_RHYTHMS))
        return _RHYTHMS[name](getattr(self, name))


class BundleShape(_Shape, frozen=True, kw_only=True):
    """The objects of one arrival."""

    template: str
    """A Go template of one or more YAML documents."""
    weight: Amount = 1.0
    """How often it is chosen, beside the weights of the others."""


class LoadSpec(_Shape, frozen=True, kw_only=True):
    """What arrives, when, and in whose name."""

    arrivals: ArrivalsShape
    count: Positive | None = None
    """How many arrivals there are."""
    for_: str | None = field(name="for", default=None)
    """How long they come."""
    params: dict[str, Param] = {}
    namespace: str = "default"
    """Of objects that say none."""
    phase: str = ""
    """The name under which figures show it; without one, the load's."""
    create: Annotated[tuple[BundleShape, ...], Meta(min_length=1)] | None = None
    on_refusal: Literal["stop", "go-on", "retry"] = "go-on"

    def __post_init__(self) -> None:
        """Raise ValueError unless it is one act, with an end."""
        exactly_one(self, ACTS)
        if self.count is None and self.lasts is None and self.arrivals.rhythm.lasts is None:
            raise ValueError("'count' or 'for' is needed: these arrivals have no end")

    @property
    def lasts(self) -> float | None:
        """For how many seconds arrivals come, if it was given."""
        return None if self.for_ is None else period(self.for_, "for")


class MetadataShape(_Shape, frozen=True, kw_only=True):
    """The metadata."""

    name: str


class LoadShape(_Shape, frozen=True, kw_only=True):
    """A whole document."""

    api_version: str = OWN
    kind: str = LOAD
    metadata: MetadataShape
    spec: LoadSpec


SHAPED = (LOAD, OWN, LoadShape)
"""For the JSON schema of documents."""
