"""The shape of a Load document, `kwokctl.dev/v1alpha1`, as its author writes it."""

import shlex
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, field

from kwokctl.config.document_kinds import LOAD, OWN
from kwokctl.draws.drawn import Drawn, exactly_one
from kwokctl.json_value import Json
from kwokctl.load.description.acts_schema import (
    BundleShape,
    DeleteActShape,
    ListActShape,
    PatchActShape,
    RecreateActShape,
    ScaleActShape,
)
from kwokctl.load.description.rhythms import Bursts, Every, Moments, Poisson, Ramp, Rhythm
from kwokctl.load.description.strict import LoadPart, Number, Positive, Word, demand_printable
from kwokctl.load.description.units import per_second, period, seconds


class BurstShape(LoadPart, frozen=True, kw_only=True):
    """Several arrivals at a time, and again after a while."""

    size: Positive
    every: str

    @property
    def rhythm(self) -> Bursts:
        """Their due times; ValueError for a time that is not one."""
        return Bursts(self.size, period(self.every, "every"))


class RateRampShape(LoadPart, frozen=True, kw_only=True):
    """A rate that grows, or shrinks, evenly; then it stays as it is."""

    first: str = field(name="from")
    last: str = field(name="to")
    over: str

    @property
    def rhythm(self) -> Ramp:
        """The due times of arrivals; ValueError for wrong rates and times."""
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
    """The rhythm of arrivals: exactly one of the fields is given."""

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
    """The number of arrivals that are open at a time: one that ends makes the next one due."""

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


_MANAGER = 128
"""The most characters of a field manager that the API server takes."""
_ACTS = ("create", "patch", "scale", "delete", "recreate", "list")


class DrawnParam(Drawn, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The parameters: drawn for each arrival, or taken from its line of the trace."""

    column: str | None = None
    """The name of a column of the trace."""


Param = DrawnParam | str | int | float | bool | list[Json] | None
"""A constant, or what is drawn for each arrival."""


class WaitShape(LoadPart, frozen=True, kw_only=True):
    """The condition for which a load waits before its first arrival."""

    what: Word
    """A kind, or an object as KIND/NAME."""
    condition: str = "exists"
    """`exists`, `deleted`, the type of a condition, or a jq expression that begins with a dot."""
    namespace: str = "default"
    """Empty for all namespaces."""
    selector: str = ""
    count: Number | None = None
    """The number of objects that is waited for; without it, at least one."""
    timeout: str | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for what names no object, and for a time that is not one."""
        kind, slash, name = self.what.partition("/")
        if not kind or "/" in name or (slash and not name):
            raise ValueError(f"'what' is '{self.what}', not KIND or KIND/NAME")
        if self.timeout is not None:
            period(self.timeout, "timeout")


class DoneShape(LoadPart, frozen=True, kw_only=True):
    """The condition that ends objects of a kind, for kinds other than Pod, Job and JobSet."""

    kind: Word
    condition: Word
    """The type of a condition, or a jq expression that begins with a dot."""


class HooksShape(LoadPart, frozen=True, kw_only=True):
    """Commands that are run once: words as in a shell, which is not used."""

    before: tuple[Word, ...] = ()
    after: tuple[Word, ...] = ()

    def __post_init__(self) -> None:
        """Raise ValueError for quotation marks that do not end."""
        for command in (*self.before, *self.after):
            try:
                shlex.split(command)
            except ValueError as e:
                raise ValueError(f"'{command}' is no command: {e}") from e


class LoadSpec(LoadPart, frozen=True, kw_only=True):
    """The arrivals: their act, their rhythm, and in whose name they are sent."""

    arrivals: ArrivalsShape
    count: Positive | None = None
    """The number of arrivals."""
    for_: str | None = field(name="for", default=None)
    """The time for which they come."""
    params: dict[str, Param] = {}  # noqa: RUF012 - msgspec copies it
    namespace: str = "default"
    """Of objects that say none."""
    phase: str = ""
    """The name under which figures show it; without one, the load's."""
    after: str = ""
    """The name of a load that must be over before this one begins."""
    wait_for: WaitShape | None = None
    hooks: HooksShape = HooksShape()

    create: Annotated[tuple[BundleShape, ...], Meta(min_length=1)] | None = None
    patch: PatchActShape | None = None
    scale: ScaleActShape | None = None
    delete: DeleteActShape | None = None
    recreate: RecreateActShape | None = None
    list: ListActShape | None = None

    ttl: str | None = None
    """The time for which objects exist before they are deleted."""
    delete_when_done: bool = False
    """Whether objects are deleted when they have ended."""
    done: tuple[DoneShape, ...] = ()

    as_user: str = field(name="as", default="")
    as_groups: tuple[str, ...] = ()
    qps: Annotated[float, Meta(ge=0)] = 0.0
    """Requests a second at most; 0 for no limit."""
    field_manager: str = "kwokctl"
    bulk: bool = False
    """Whether arrivals are written past the API server, straight to etcd."""
    on_refusal: Literal["stop", "go-on", "retry"] = "go-on"

    def __post_init__(self) -> None:
        """Raise ValueError unless it is one act, with an end."""
        if self.arrivals.trace is None or any(getattr(self, name) is not None for name in _ACTS):
            exactly_one(self, _ACTS)
        lasts = self.lasts
        if self.count is None and lasts is None and not self.arrivals.ends:
            raise ValueError("'count' or 'for' is needed: these arrivals have no end")
        if self.ttl is not None:
            period(self.ttl, "ttl")
        if self.as_groups and not self.as_user:
            raise ValueError("'asGroups' needs 'as'")
        self._check_writer()
        if self.bulk:
            self._check_bulk()

    def _check_writer(self) -> None:
        """Raise ValueError for names that no request can carry."""
        for field_, text in (("as", self.as_user), ("fieldManager", self.field_manager)):
            demand_printable(text, field_)
        for group in self.as_groups:
            demand_printable(group, "asGroups")
        if not 0 < len(self.field_manager) <= _MANAGER:
            raise ValueError(f"'fieldManager' must have 1 to {_MANAGER} characters")

    def _check_bulk(self) -> None:
        if self.act != "create":
            raise ValueError(f"'bulk' is for 'create', not for '{self.act}'")
        if self.as_user:
            raise ValueError(
                "'bulk' writes past the API server, where no user writes: leave 'as' out"
            )

    @property
    def act(self) -> str:
        """The name of the act."""
        return next((name for name in _ACTS if getattr(self, name) is not None), "create")

    @property
    def lasts(self) -> float | None:
        """For how many seconds arrivals come, if it was given."""
        return None if self.for_ is None else period(self.for_, "for")


class LoadMetadata(LoadPart, frozen=True, kw_only=True):
    """The metadata."""

    name: str


class LoadShape(LoadPart, frozen=True, kw_only=True):
    """A whole document."""

    api_version: str = OWN
    kind: str = LOAD
    metadata: LoadMetadata
    spec: LoadSpec


Shaped = tuple[str, str, type[msgspec.Struct]]
SHAPED: Shaped = (LOAD, OWN, LoadShape)
"""For the JSON schema of documents."""
