"""Tests whether times grow in a straight line with numbers."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

Point = tuple[float, float]
"""A number, and the seconds it took."""


@dataclass(frozen=True, slots=True)
class Line:
    """The straight line that comes nearest to some points."""

    slope: float
    """Seconds for one more."""
    intercept: float
    """Seconds for none."""
    determination: float
    """How much of the differences between times the line explains: 1 if they lie on it."""

    def at(self, number: float) -> float:
        """Return the seconds that the line gives for a number."""
        return self.intercept + self.slope * number


def fit(points: Sequence[Point]) -> Line | None:
    """Return the line with the least squares of distances; None for fewer than three numbers."""
    if len({number for number, _ in points}) < 3:
        return None
    numbers, times = zip(*points, strict=True)
    slope, intercept = statistics.linear_regression(numbers, times)
    if len(set(times)) == 1:
        return Line(slope, intercept, 1.0)
    return Line(slope, intercept, statistics.correlation(numbers, times) ** 2)
