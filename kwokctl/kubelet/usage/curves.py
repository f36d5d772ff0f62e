"""Usage as functions of the age of a container, with their integrals.

The integral is that of the curve itself. So a counter says the same however often it is read. A random walk is a
table that ends where it begins, and repeats: so any time, and the integral until then, are found at once, even for
a container that has run for months.
"""

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from math import cos, pi, sin
from random import Random
from typing import Protocol

import msgspec

from kwokctl.expr.cel.cel_errors import CelValueError
from kwokctl.expr.cel.values.quantities import parse_quantity


class Curve(Protocol):
    """The use of a resource by a container, as a function of its age in seconds."""

    def at(self, age: float) -> float:
        """Return the use at an age."""
        ...

    def between(self, start: float, end: float) -> float:
        """Return the integral of the use between two ages."""
        ...


class Integrable(ABC):
    """A curve whose integral from the beginning is known as a formula."""

    __slots__ = ()

    @abstractmethod
    def at(self, age: float) -> float:
        """Return the use at an age."""

    @abstractmethod
    def area(self, age: float) -> float:
        """Return the integral of the use from the beginning until an age."""

    def between(self, start: float, end: float) -> float:
        """Return the integral of the use between two ages."""
        return self.area(end) - self.area(start)


class ConstantCurve(msgspec.Struct, frozen=True):
    """The same use at all times."""

    value: float

    def at(self, age: float) -> float:
        """Return the value."""
        return self.value

    def between(self, start: float, end: float) -> float:
        """Return the value times the time between."""
        return self.value * (end - start)


@lru_cache(maxsize=4096)
def constant_curve(value: float) -> ConstantCurve:
    """Return the curve of a value: one for the many containers that use the same."""
    return ConstantCurve(value)


NO_USE = ConstantCurve(0.0)


class Amount(msgspec.Struct, frozen=True):
    """A number, or a factor of the request."""

    number: float
    is_share: bool = False

    def of(self, request: float) -> float:
        """Return the amount for a container that requests so much."""
        return self.number * request if self.is_share else self.number


@lru_cache(maxsize=4096)
def read_amount(given: str | float) -> Amount:
    """Read `250m`, `1.5`, `64Mi` or `80%`; raise ValueError for an invalid amount, or one below 0."""
    text = str(given).strip()
    is_share = text.endswith("%")
    try:
        number = float(text[:-1]) / 100 if is_share else float(parse_quantity(text))
    except (CelValueError, ValueError) as e:
        raise ValueError(f"'{given}' is neither a quantity nor a share such as '80%'") from e
    if not 0 <= number < float("inf"):
        raise ValueError(f"'{given}' is not an amount that can be used")
    return Amount(number, is_share)


_TURN = 2 * pi


@dataclass(frozen=True, slots=True)
class RampCurve(Integrable):
    """From one value to another in a straight line, and that value ever after."""

    first: float
    last: float
    over: float

    def at(self, age: float) -> float:
        """Return the use at an age."""
        return self.first + (self.last - self.first) * min(max(age, 0.0) / self.over, 1.0)

    def area(self, age: float) -> float:
        """Return the integral of the use from the beginning until an age."""
        on = min(age, self.over)
        return (self.first + self.at(on)) / 2 * on + self.last * (age - on)


@dataclass(frozen=True, slots=True)
class SineCurve(Integrable):
    """Up and down around a mean."""

    mean: float
    amplitude: float
    period: float
    phase: float = 0.0
    """The part of a period that has passed at the beginning."""

    def at(self, age: float) -> float:
        """Return the use at an age."""
        return self.mean + self.amplitude * sin(_TURN * (age / self.period + self.phase))

    def area(self, age: float) -> float:
        """Return the integral of the use from the beginning until an age."""
        fallen = cos(_TURN * self.phase) - cos(_TURN * (age / self.period + self.phase))
        return self.mean * age + self.amplitude * self.period / _TURN * fallen


class StepCurve(Integrable):
    """One value after the other, each until the next one's age."""

    __slots__ = ("_ages", "_areas", "_values")

    def __init__(self, steps: Iterable[tuple[float, float]]) -> None:
        """Take the steps, each an age and a value, in any order; the first counts from 0 on."""
        ordered = sorted(steps, key=lambda step: step[0])
        begun = max(0, bisect_right([age for age, _ in ordered], 0.0) - 1)
        self._ages = [0.0, *(age for age, _ in ordered[begun + 1 :])]
        self._values = [value for _, value in ordered[begun:]]
        self._areas = [0.0]
        for index, value in enumerate(self._values[:-1]):
            lasted = self._ages[index + 1] - self._ages[index]
            self._areas.append(self._areas[-1] + value * lasted)

    def at(self, age: float) -> float:
        """Return the use at an age."""
        return self._values[self._index(age)]

    def area(self, age: float) -> float:
        """Return the integral of the use from the beginning until an age."""
        index = self._index(age)
        return self._areas[index] + self._values[index] * (age - self._ages[index])

    def _index(self, age: float) -> int:
        return max(bisect_right(self._ages, age) - 1, 0)


_STEPS_OF_WALK = 1024
"""Steps until the walk repeats."""


@dataclass(frozen=True, slots=True)
class WalkCurve(Integrable):
    """A random walk between two values, with a step at regular times."""

    least: float
    most: float
    every: float
    """Seconds between two steps."""
    seed: int
    begin: int = 0
    """The step in the table that the walk begins with."""

    def at(self, age: float) -> float:
        """Return the use at an age."""
        heights, _ = _walk_table(self.seed)
        step = int(max(age, 0.0) / self.every) + self.begin
        return self.least + (self.most - self.least) * heights[step % _STEPS_OF_WALK]

    def area(self, age: float) -> float:
        """Return the integral of the use from the beginning until an age."""
        walked = self._walked(age / self.every + self.begin) - self._walked(self.begin)
        return self.least * age + (self.most - self.least) * self.every * walked

    def _walked(self, steps: float) -> float:
        """Return the sum of all heights until then, the last one in part."""
        heights, sums = _walk_table(self.seed)
        rounds, rest = divmod(steps, _STEPS_OF_WALK)
        whole = min(int(rest), _STEPS_OF_WALK - 1)
        return rounds * sums[-1] + sums[whole] + heights[whole] * (rest - whole)


@dataclass(frozen=True, slots=True)
class TrainingCurve(Integrable):
    """Steps of the same length: work, and then an exchange with the other ranks."""

    busy: float
    """The use while it works."""
    waiting: float
    """The use during the exchange, at the end of each step."""
    step: float
    exchange: float
    """The seconds of a step in which it exchanges."""

    def at(self, age: float) -> float:
        """Return the use at an age."""
        is_working = max(age, 0.0) % self.step < self.step - self.exchange
        return self.busy if is_working else self.waiting

    def area(self, age: float) -> float:
        """Return the integral of the use from the beginning until an age."""
        steps, rest = divmod(age, self.step)
        work = self.step - self.exchange
        whole = self.busy * work + self.waiting * self.exchange
        return steps * whole + self.busy * min(rest, work) + self.waiting * max(rest - work, 0.0)


class SumCurve(msgspec.Struct, frozen=True):
    """Several curves on top of each other."""

    parts: tuple[Integrable, ...]

    def at(self, age: float) -> float:
        """Return the use at an age."""
        return sum(part.at(age) for part in self.parts)

    def between(self, start: float, end: float) -> float:
        """Return the integral of the use between two ages."""
        return sum(part.between(start, end) for part in self.parts)


@lru_cache(maxsize=64)
def _walk_table(seed: int) -> tuple[list[float], list[float]]:
    """Return heights from 0 to 1, and the sums of those before each."""
    chance = Random(seed)
    places = list(accumulate((chance.gauss() for _ in range(_STEPS_OF_WALK - 1)), initial=0.0))
    drift = places[-1] / _STEPS_OF_WALK
    level = [place - drift * index for index, place in enumerate(places)]
    low, high = min(level), max(level)
    heights = [(place - low) / (high - low) for place in level]
    return heights, list(accumulate(heights, initial=0.0))
