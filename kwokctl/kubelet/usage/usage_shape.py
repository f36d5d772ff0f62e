"""The shape of a usage, as the author of a ResourceUsage or of an annotation writes it.

`value` and `expression` are kwok's; the others are ours. What is wrong is
found when a document is read, with its place.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from math import inf
from typing import Annotated, TypeAlias

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, ValidationError, convert, field

from kwokctl.errors import ExpressionError
from kwokctl.expr.duration import parse_duration, parse_time
from kwokctl.json_value import Json
from kwokctl.kubelet.usage.cel_expressions import check_amount
from kwokctl.kubelet.usage.curves import (
    Curve,
    RampCurve,
    SineCurve,
    StepCurve,
    SumCurve,
    TrainingCurve,
    WalkCurve,
    constant_curve,
    read_amount,
)


class UsageSubject(msgspec.Struct, frozen=True, kw_only=True):
    """The facts that the use of a resource by a container may depend on."""

    request: float
    """The amount of the resource that it requests."""
    started: float
    """The time of its start, as a POSIX time stamp."""
    number: int
    """A random number that is stable: a hash of the container, different for each container."""
    expressed: Callable[[str], Curve]
    """Returns the use that an expression gives."""
    most: float = inf
    """All that it can use: of devices no more than it has."""

    def amount(self, given: str | float) -> float:
        """Return an amount, which may be a share of the request."""
        return min(read_amount(given).of(self.request), self.most)


Quantity: TypeAlias = str | int | float
"""A quantity, or a share of the request: `250m`, `2`, `80%`."""

_QUOTE = "'"


class _Shape(Struct, rename="camel", forbid_unknown_fields=True):
    """The base of all parts of a usage."""


class RampShape(_Shape):
    """From one amount to another in a straight line."""

    first: Quantity = field(name="from")
    last: Quantity = field(name="to")
    over: str

    def __post_init__(self) -> None:
        """Raise ValueError for an invalid amount or duration."""
        _check_amounts(self.first, self.last)
        _positive(self.over)

    def curve(self, subject: UsageSubject) -> Curve:
        """Return the curve for a container."""
        first, last = (subject.amount(each) for each in (self.first, self.last))
        return RampCurve(first, last, _positive(self.over))


class SineShape(_Shape):
    """Up and down around a mean."""

    mean: Quantity
    amplitude: Quantity
    period: str
    phase: Annotated[float, Meta(ge=0, le=1)] = 0.0

    def __post_init__(self) -> None:
        """Raise ValueError for an invalid amount or duration, or one that would go below 0."""
        mean, amplitude = read_amount(self.mean), read_amount(self.amplitude)
        if mean.is_share == amplitude.is_share and amplitude.number > mean.number:
            raise ValueError("'amplitude' is larger than 'mean', so the use would go below 0")
        _positive(self.period)

    def curve(self, subject: UsageSubject) -> Curve:
        """Return the curve for a container; shares may make the amplitude no larger than the mean."""
        mean = subject.amount(self.mean)
        amplitude = min(subject.amount(self.amplitude), mean, subject.most - mean)
        return SineCurve(mean, amplitude, _positive(self.period), self.phase)


class UsageStep(_Shape):
    """An amount, from an age of the container or from a time on."""

    value: Quantity
    after: str | UnsetType = UNSET
    at: str | UnsetType = UNSET

    def __post_init__(self) -> None:
        """Raise ValueError for an invalid amount, duration or time."""
        _check_amounts(self.value)
        if self.after is not UNSET and self.at is not UNSET:
            raise ValueError("either 'after' or 'at' says when a step is, not both")
        self.age(0.0)

    def age(self, started: float) -> float:
        """Return the age of a container at the step."""
        if self.at is not UNSET:
            return _read_time(self.at) - started
        return 0.0 if self.after is UNSET else _duration(self.after)


class WalkShape(_Shape):
    """A random walk between two amounts."""

    least: Quantity
    most: Quantity
    every: str = "15s"
    seed: int = 0

    def __post_init__(self) -> None:
        """Raise ValueError for an invalid amount or duration."""
        _check_amounts(self.least, self.most)
        _positive(self.every)

    def curve(self, subject: UsageSubject) -> Curve:
        """Return the curve for a container: each begins elsewhere in the same walk."""
        least, most = sorted(subject.amount(each) for each in (self.least, self.most))
        return WalkCurve(least, most, _positive(self.every), self.seed, subject.number)


class TrainingShape(_Shape):
    """The steps of a training: all ranks work, then they exchange their gradients."""

    busy: Quantity = "98%"
    waiting: Quantity = "20%"
    step: str = "5s"
    all_reduce: str = "1s"
    """The part of each step in which the ranks exchange."""

    def __post_init__(self) -> None:
        """Raise ValueError for an invalid amount or duration, or an exchange that is longer than a step."""
        _check_amounts(self.busy, self.waiting)
        if _positive(self.all_reduce) > _positive(self.step):
            raise ValueError("'allReduce' is longer than 'step'")

    def curve(self, subject: UsageSubject) -> Curve:
        """Return the curve for a container: those that start together exchange together."""
        busy, waiting = subject.amount(self.busy), subject.amount(self.waiting)
        return TrainingCurve(busy, waiting, _positive(self.step), _positive(self.all_reduce))


class InferenceShape(_Shape):
    """The load of requests: it swings over a day, and bursts come on top of it."""

    mean: Quantity = "50%"
    swing: Quantity = "30%"
    period: str = "24h"
    bursts: Quantity = "10%"
    every: str = "15s"
    """The time between two changes of the bursts."""
    seed: int = 0

    def __post_init__(self) -> None:
        """Raise ValueError for an invalid amount or duration, or one that would go below 0."""
        amounts = [read_amount(each) for each in (self.mean, self.swing, self.bursts)]
        mean, *others = [each.number for each in amounts]
        if len({each.is_share for each in amounts}) == 1 and sum(others) > mean:
            raise ValueError(
                "'swing' and 'bursts' are larger than 'mean', so the use would go below 0"
            )
        _positive(self.period)
        _positive(self.every)

    def curve(self, subject: UsageSubject) -> Curve:
        """Return the curve for a container: the swing is the same for all that start together."""
        mean = subject.amount(self.mean)
        room = min(mean, subject.most - mean)
        bursts = min(subject.amount(self.bursts), room)
        swing = min(subject.amount(self.swing), room - bursts)
        walk = WalkCurve(-bursts, bursts, _positive(self.every), self.seed, subject.number)
        return SumCurve((SineCurve(mean, swing, _positive(self.period)), walk))


class UsageShape(_Shape):
    """The usage of a resource: one of the fields."""

    value: Quantity | UnsetType = UNSET
    expression: str | UnsetType = UNSET
    ramp: RampShape | UnsetType = UNSET
    sine: SineShape | UnsetType = UNSET
    steps: Annotated[tuple[UsageStep, ...], Meta(min_length=1)] | UnsetType = UNSET
    walk: WalkShape | UnsetType = UNSET
    training: TrainingShape | UnsetType = UNSET
    inference: InferenceShape | UnsetType = UNSET

    def __post_init__(self) -> None:
        """Raise ValueError unless exactly one field is given, or for what it cannot be."""
        given = [name for name in self.__struct_fields__ if getattr(self, name) is not UNSET]
        if len(given) != 1:
            fields = ", ".join(f"'{name}'" for name in self.__struct_fields__)
            raise ValueError(f"needs one of {fields}")
        if self.value is not UNSET:
            _check_amounts(self.value)
        if self.expression is not UNSET:
            check_amount(self.expression)

    def curve(self, subject: UsageSubject) -> Curve:
        """Return the use of a container."""
        if self.value is not UNSET:
            return constant_curve(subject.amount(self.value))
        if self.expression is not UNSET:
            return subject.expressed(self.expression)
        if self.steps is not UNSET:
            started = subject.started
            return StepCurve((s.age(started), subject.amount(s.value)) for s in self.steps)
        others = (self.ramp, self.sine, self.walk, self.training, self.inference)
        return next(each for each in others if each).curve(subject)


class UsageEntry(_Shape, dict=True):
    """An entry of a document: what containers use."""

    usage: dict[str, dict[str, Json]] = {}
    containers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raise ValueError that names the resource of a usage that is wrong."""
        _ = self.by_resource

    @cached_property
    def by_resource(self) -> Mapping[str, UsageShape]:
        """The usages by resource; an empty one says nothing."""
        return {name: _usage_of(name, given) for name, given in self.usage.items() if given}


def _usage_of(resource: str, given: dict[str, Json]) -> UsageShape:
    """Read a usage; errors of msgspec do not name the key of a mapping."""
    try:
        return convert(given, UsageShape)
    except ValidationError as e:
        problem, _, inside = str(e).replace("`", "'").partition(" - at '$")
        raise ValueError(f"'usage.{resource}{inside.rstrip(_QUOTE)}': {problem}") from e


def _check_amounts(*given: Quantity) -> None:
    for each in given:
        read_amount(each)


def _duration(text: str) -> float:
    try:
        return parse_duration(text)
    except ExpressionError as e:
        raise ValueError(str(e)) from e


def _positive(text: str) -> float:
    seconds = _duration(text)
    if seconds <= 0:
        raise ValueError(f"'{text}' is not a duration")
    return seconds


def _read_time(text: str) -> float:
    try:
        return parse_time(text)
    except ExpressionError as e:
        raise ValueError(str(e)) from e
