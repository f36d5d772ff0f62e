"""Curves with a simple formula: a ramp, a sine, and steps."""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from math import cos, pi, sin

from kwokctl.kubelet.usage.curves.curve import Integrable

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
