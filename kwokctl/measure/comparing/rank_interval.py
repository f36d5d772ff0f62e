"""The ratio of two samples, and an interval for it that holds whatever the distribution is.

The runs of A and B are put in one order. If both come from the same distribution, up to a factor, each
arrangement is equally likely, so that it can be counted how often the ranks are as unequal as seen (Mann
and Whitney). The factors with which that is not seen too seldom are the interval, and its ends are among the
ratios of each run of B to each of A; their median is the estimate (Hodges and Lehmann). Nothing is drawn
at random, and nothing is assumed of the distribution, which five runs could not show. Pure.
"""

import math
from collections.abc import Sequence
from statistics import median

import msgspec

CONFIDENCE = 0.95


class RankInterval(msgspec.Struct, frozen=True, kw_only=True):
    """A ratio, and the interval that contains the true one in 95 % of all comparisons or more."""

    ratio: float
    low: float
    high: float
    false_alarms: float
    """The share of comparisons of equal things in which the interval lies above 1; as large is that below 1."""


def rank_interval(a: Sequence[float], b: Sequence[float]) -> RankInterval | None:
    """Return the ratio of B to A; None if there are too few runs for any interval."""
    shares = _shares(len(a), len(b))
    within = [share for share in shares if share <= (1 - CONFIDENCE) / 2]
    if not within:
        return None
    left_out = len(within) - 1
    ratios = sorted(_ratio(each, other) for other in a for each in b)
    return RankInterval(
        ratio=median(ratios),
        low=ratios[left_out],
        high=ratios[-1 - left_out],
        false_alarms=within[-1],
    )


def _shares(one: int, other: int) -> Sequence[float]:
    """Return for 0, 1, 2, … which share of all arrangements has at most this number of inversions."""
    counts = [1]
    for place in range(1, one + 1):
        # The Gaussian binomial coefficient, factor by factor: (1 - q^(other + place)) / (1 - q^place).
        counts = [*counts, *([0] * other)]
        for power in range(len(counts) - 1, other + place - 1, -1):
            counts[power] -= counts[power - other - place]
        for power in range(place, len(counts)):
            counts[power] += counts[power - place]
    total, reached, shares = math.comb(one + other, one), 0, list[float]()
    for count in counts:
        reached += count
        shares.append(reached / total)
    return shares


def _ratio(value: float, base: float) -> float:
    if base:
        return value / base
    return math.inf if value else 1.0
