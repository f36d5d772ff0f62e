"""The rhythms of arrivals: they yield due times in seconds since a load began. Pure."""

import math
from collections.abc import Iterator
from functools import partial
from itertools import count, islice, takewhile
from operator import gt
from typing import Protocol

import msgspec

from kwokctl.draws.distributions import Exponential
from kwokctl.draws.streams import DrawStream


class Rhythm(Protocol):
    """Yields when arrivals are due."""

    @property
    def lasts(self) -> float | None:
        """For how many seconds arrivals come by themselves; None if they have no end."""
        ...

    def times(self, stream: DrawStream) -> Iterator[float]:
        """Yield the times in order, perhaps without end; `stream` is for those at random."""
        ...


def due_times(
    rhythm: Rhythm, stream: DrawStream, *, number: int | None, lasts: float | None
) -> Iterator[float]:
    """Yield when each arrival is due, for at most a `number` of them, within `lasts` seconds."""
    times = rhythm.times(stream)
    if lasts is None and number is None:
        lasts = rhythm.lasts
    if lasts is not None:
        times = takewhile(partial(gt, lasts), times)
    return islice(times, number)


class Every(msgspec.Struct, frozen=True):
    """Arrivals with the same time between all of them."""

    gap: float
    lasts: float | None = None

    def times(self, stream: DrawStream) -> Iterator[float]:
        """Yield 0, and then each time."""
        return (number * self.gap for number in count())


class Poisson(msgspec.Struct, frozen=True):
    """Arrivals that do not depend on each other, at a mean rate a second."""

    rate: float
    lasts: float | None = None

    def times(self, stream: DrawStream) -> Iterator[float]:
        """Yield times with exponential gaps before each."""
        gaps = Exponential(mean=1 / self.rate)
        now = 0.0
        for index in count():
            now += gaps.value(stream.at(index))
            yield now


class Bursts(msgspec.Struct, frozen=True):
    """Several arrivals at a time, and again after each gap."""

    size: int
    gap: float
    lasts: float | None = None

    def times(self, stream: DrawStream) -> Iterator[float]:
        """Yield 0 for each arrival of the first burst, then the time of the next."""
        return (number // self.size * self.gap for number in count())


class Moments(msgspec.Struct, frozen=True):
    """Arrivals at times that are given."""

    moments: tuple[float, ...]

    @property
    def lasts(self) -> float:
        """Their end, which is theirs alone."""
        return math.inf

    def times(self, stream: DrawStream) -> Iterator[float]:
        """Yield the times in order."""
        return iter(sorted(self.moments))


class Ramp(msgspec.Struct, frozen=True):
    """A rate a second that changes evenly to another rate, over some seconds, and then stays."""

    first: float
    last: float
    lasts: float

    def times(self, stream: DrawStream) -> Iterator[float]:
        """Yield 0, and then each time at which the rate so far adds up to one arrival more."""
        on_the_way = (self.first + self.last) / 2 * self.lasts
        for number in count():
            if number >= on_the_way:
                yield self.lasts + (number - on_the_way) / self.last
            else:
                yield self._while_it_changes(number)

    def _while_it_changes(self, number: int) -> float:
        """Return when `first * t + (last - first) * t * t / (2 * lasts)` is the number."""
        slope = (self.last - self.first) / self.lasts
        # The form of the solution that loses no digits where the slope is small.
        return 2 * number / (self.first + math.sqrt(self.first**2 + 2 * slope * number))
