"""A use that wanders at random, the same way for the same seed.

The walk is a table that ends where it begins, and repeats. So any time, and the integral until
then, are found at once, even for a container that has run for months.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from random import Random

from kwokctl.kubelet.usage.curves.curve import Integrable

_LENGTH = 1024
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
        heights, _ = _table(self.seed)
        step = int(max(age, 0.0) / self.every) + self.begin
        return self.least + (self.most - self.least) * heights[step % _LENGTH]

    def area(self, age: float) -> float:
        """Return the integral of the use from the beginning until an age."""
        walked = self._walked(age / self.every + self.begin) - self._walked(self.begin)
        return self.least * age + (self.most - self.least) * self.every * walked

    def _walked(self, steps: float) -> float:
        """Return the sum of all heights until then, the last one in part."""
        heights, sums = _table(self.seed)
        rounds, rest = divmod(steps, _LENGTH)
        whole = min(int(rest), _LENGTH - 1)
        return rounds * sums[-1] + sums[whole] + heights[whole] * (rest - whole)


@lru_cache(maxsize=64)
def _table(seed: int) -> tuple[list[float], list[float]]:
    """Return heights from 0 to 1, and the sums of those before each."""
    chance = Random(seed)
    places = list(accumulate((chance.gauss() for _ in range(_LENGTH - 1)), initial=0.0))
    drift = places[-1] / _LENGTH
    level = [place - drift * index for index, place in enumerate(places)]
    low, high = min(level), max(level)
    heights = [(place - low) / (high - low) for place in level]
    return heights, list(accumulate(heights, initial=0.0))
