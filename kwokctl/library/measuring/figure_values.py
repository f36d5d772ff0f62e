"""Figures of a run as objects: numbers, distributions, rates, levels over time, and latencies known by classes."""

from collections.abc import Mapping
from typing import Self

from kwokctl.library.measuring.figure_places import FiguresByName, ReportedFigure
from kwokctl.measure.figures.values import Bounds, Durations, Levels, Series, SingleNumber


class NumberFigure(ReportedFigure):
    """A single number; it can be compared with others."""

    @property
    def value(self) -> float:
        """The number, in its unit."""
        return self._statistic("value")

    @property
    def detail(self) -> Mapping[str, int]:
        """Its parts, such as a count for each reason."""
        return self._as(SingleNumber).detail

    def __getitem__(self, part: str) -> Self:
        """Return a part of it, such as that of a client."""
        return self._part(part)

    def __float__(self) -> float:
        return self.value

    def __bool__(self) -> bool:
        return self.value != 0

    def __eq__(self, other: object) -> bool:
        if isinstance(other, int | float | NumberFigure):
            return self.value == float(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.value)

    def __lt__(self, other: "float | NumberFigure") -> bool:
        return self.value < float(other)

    def __le__(self, other: "float | NumberFigure") -> bool:
        return self.value <= float(other)

    def __gt__(self, other: "float | NumberFigure") -> bool:
        return self.value > float(other)

    def __ge__(self, other: "float | NumberFigure") -> bool:
        return self.value >= float(other)


class CountedFigure(ReportedFigure):
    """A figure of many values."""

    @property
    def count(self) -> int:
        """The number of values."""
        return int(self._statistic("count"))


class PercentileFigure(CountedFigure):
    """Many values, of which percentiles are known; durations are in seconds."""

    @property
    def p50(self) -> float:
        """The median."""
        return self._statistic("p50")

    @property
    def p90(self) -> float:
        """The value that 90 % do not exceed."""
        return self._statistic("p90")

    @property
    def p99(self) -> float:
        """The value that 99 % do not exceed."""
        return self._statistic("p99")


class DistributionFigure(PercentileFigure):
    """Many durations in seconds, or many numbers."""

    @property
    def mean(self) -> float:
        """The mean."""
        return self._statistic("mean")

    @property
    def min(self) -> float:
        """The least."""
        return self._statistic("min")

    @property
    def max(self) -> float:
        """The greatest."""
        return self._statistic("max")

    @property
    def left_out(self) -> int:
        """The number of those that ended, and of which a time was lost in a gap or never seen."""
        return int(self._statistic("left_out"))

    @property
    def open(self) -> int:
        """The number of those that have begun and not ended."""
        return int(self._statistic("open"))

    @property
    def histogram(self) -> tuple[tuple[float, int], ...]:
        """The upper bounds of classes, and how many values are in each."""
        return self._as(Durations).histogram


class BoundsFigure(PercentileFigure):
    """Durations of which only the classes are known: a percentile is at most the bound of its class, in seconds."""

    def __getitem__(self, part: str) -> Self:
        """Return a part of it, such as that of one kind of request."""
        return self._part(part)

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of its parts."""
        return tuple(self._as(Bounds).parts)


class SeriesFigure(CountedFigure):
    """The number of times that something happened in each second."""

    @property
    def peak(self) -> float:
        """The most in any one second."""
        return self._statistic("peak")

    @property
    def sustained(self) -> float:
        """The average of the best ten seconds; NotFoundError if it happened in less than ten."""
        return self._statistic("sustained")

    @property
    def start(self) -> float:
        """Seconds from the beginning of the run to the first of `values`."""
        return self._as(Series).start

    @property
    def values(self) -> tuple[int, ...]:
        """The number in each second, the first one at `start`."""
        return self._as(Series).values


class LevelsFigure(ReportedFigure):
    """A level over time, such as the number of pods that wait."""

    @property
    def mean(self) -> float:
        """The mean, weighted by time."""
        return self._statistic("mean")

    @property
    def min(self) -> float:
        """The lowest level."""
        return self._statistic("min")

    @property
    def max(self) -> float:
        """The highest level."""
        return self._statistic("max")

    @property
    def first(self) -> float:
        """The level at the beginning."""
        return self._statistic("first")

    @property
    def last(self) -> float:
        """The level at the end."""
        return self._statistic("last")

    @property
    def step(self) -> float:
        """The seconds that each of `values` is for."""
        return self._as(Levels).step

    @property
    def start(self) -> float:
        """Seconds from the beginning of the run to the first of `values`."""
        return self._as(Levels).start

    @property
    def values(self) -> tuple[float, ...]:
        """The mean in each step."""
        return self._as(Levels).values

    @property
    def detail(self) -> Mapping[str, int]:
        """Counts beside it, such as one for each size of a gang."""
        return self._as(Levels).detail

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of its parts, such as components."""
        return tuple(self._as(Levels).parts)

    def __getitem__(self, part: str) -> Self:
        """Return a part of it, such as that of a component."""
        return self._part(part)


class NumbersByName(FiguresByName[NumberFigure]):
    """Numbers by the names that were asked for."""

    _kind = NumberFigure


class DistributionsByName(FiguresByName[DistributionFigure]):
    """Distributions by names, such as those of labels of nodes."""

    _kind = DistributionFigure


class LevelsByName(FiguresByName[LevelsFigure]):
    """Levels by the names of devices."""

    _kind = LevelsFigure
