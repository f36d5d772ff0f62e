"""Distributions, as documents describe them: each turns a uniform number into a value.

Values with decimals are rounded to twelve digits: the last of the sixteen that a number has depend on the
mathematical library of the platform.
"""

import math
from itertools import accumulate
from statistics import NormalDist
from typing import Protocol

import msgspec

from kwokctl.json_value import Json

_STANDARD = NormalDist()
_P95 = _STANDARD.inv_cdf(0.95)


class Distribution(Protocol):
    """Turns a number between 0 and 1 into a value."""

    def value(self, uniform: float) -> Json:
        """Return the value below which the share `uniform` of all values lies."""
        ...


class _Numbers(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The numbers of a distribution; each kind raises ValueError for those that it cannot have."""


class WeightedChoice(_Numbers, frozen=True, kw_only=True):
    """One of some values, as often as its weight says."""

    values: tuple[Json, ...]
    weights: tuple[float, ...] = ()
    """One for each value; without any, all are equal."""

    def __post_init__(self) -> None:
        """Raise ValueError unless there is something to choose."""
        if not self.values:
            raise ValueError("there are no 'values' to choose from")
        if self.weights and len(self.weights) != len(self.values):
            raise ValueError(f"there are {len(self.values)} values and {len(self.weights)} weights")
        if min(self.weights, default=1.0) < 0 or sum(self.weights or (1.0,)) <= 0:
            raise ValueError("'weights' must not be negative, and one must be more than 0")

    def value(self, uniform: float) -> Json:
        """Return one of the values."""
        weights = self.weights or (1.0,) * len(self.values)
        wanted = uniform * sum(weights)
        reached = accumulate(weights)
        return next(
            (v for v, r in zip(self.values, reached, strict=True) if wanted < r), self._last
        )

    @property
    def _last(self) -> Json:
        """The last value that may be chosen, where the sum of weights was rounded."""
        weights = self.weights or (1.0,) * len(self.values)
        return next(v for v, w in zip(self.values[::-1], weights[::-1], strict=True) if w > 0)


class Uniform(_Numbers, frozen=True, kw_only=True):
    """Any number between two, each as often as the others."""

    least: float = msgspec.field(name="from")
    most: float = msgspec.field(name="to")

    def __post_init__(self) -> None:
        """Raise ValueError for an empty range."""
        _check_range(self.least, self.most)

    def value(self, uniform: float) -> float:
        """Return the number at this share of the range."""
        return _rounded(self.least + uniform * (self.most - self.least))


class Integer(_Numbers, frozen=True, kw_only=True):
    """Any whole number from one to another, each as often as the others."""

    least: int = msgspec.field(name="from")
    most: int = msgspec.field(name="to")

    def __post_init__(self) -> None:
        """Raise ValueError for an empty range."""
        _check_range(self.least, self.most)

    def value(self, uniform: float) -> int:
        """Return the number at this share of the range."""
        return min(self.most, self.least + int(uniform * (self.most - self.least + 1)))


class Normal(_Numbers, frozen=True, kw_only=True):
    """The normal distribution; what is below `min` or above `max` becomes that."""

    mean: float
    sd: float
    least: float = msgspec.field(name="min", default=-math.inf)
    most: float = msgspec.field(name="max", default=math.inf)

    def __post_init__(self) -> None:
        """Raise ValueError for a negative deviation, or an empty range."""
        if self.sd < 0:
            raise ValueError("'sd' must not be negative")
        if self.least > self.most:
            raise ValueError(f"'min' is {self.least:g}, more than 'max', {self.most:g}")

    def value(self, uniform: float) -> float:
        """Return the number at this share of the distribution."""
        drawn = self.mean + self.sd * _STANDARD.inv_cdf(uniform)
        return _rounded(min(max(drawn, self.least), self.most))


class LogNormal(_Numbers, frozen=True, kw_only=True):
    """The distribution of numbers whose logarithms are normal, by two of its percentiles."""

    p50: float
    p95: float

    def __post_init__(self) -> None:
        """Raise ValueError for percentiles that it cannot have."""
        if self.p50 <= 0:
            raise ValueError("'p50' must be more than 0")
        if self.p95 < self.p50:
            raise ValueError(f"'p95' is {self.p95:g}, less than 'p50', {self.p50:g}")

    def value(self, uniform: float) -> float:
        """Return the number at this share of the distribution."""
        sigma = math.log(self.p95 / self.p50) / _P95
        return _rounded(self.p50 * math.exp(sigma * _STANDARD.inv_cdf(uniform)))


class Exponential(_Numbers, frozen=True, kw_only=True):
    """The exponential distribution: how long it takes until what happens at random happens."""

    mean: float

    def __post_init__(self) -> None:
        """Raise ValueError for a mean that it cannot have."""
        if self.mean <= 0:
            raise ValueError("'mean' must be more than 0")

    def value(self, uniform: float) -> float:
        """Return the number at this share of the distribution."""
        return _rounded(-self.mean * math.log1p(-uniform))


def _check_range(least: float, most: float) -> None:
    if least > most:
        raise ValueError(f"'from' is {least:g}, more than 'to', {most:g}")


def _rounded(number: float) -> float:
    return float(f"{number:.12g}")
