"""The times at which the units of a process fail, and for how long. Pure.

Each number is drawn at a position of a stream that belongs to the seed, the process and the unit, so a unit or a process that is added
leaves all others as they were.
"""

import math
from collections.abc import Iterator
from itertools import count, takewhile
from typing import assert_never

import msgspec

from kwokctl.draws.distributions import Exponential, LogNormal, Uniform
from kwokctl.draws.streams import DrawStream
from kwokctl.expr.duration import parse_duration
from kwokctl.faults.storms.schedule_schema import (
    DrawnTime,
    FixedGap,
    PoissonGap,
    WeibullGap,
)

_DAY = 86_400.0
_GAP, _LENGTH = "gap", "for"
DIGITS = 3
"""The decimals of all times of a plan: milliseconds."""


def mean_gap(gap: PoissonGap) -> float:
    """Return the mean seconds between two faults of a unit."""
    return parse_duration(gap.mean) if gap.per_day is None else _DAY / gap.per_day


def unit_times(
    gap: PoissonGap | WeibullGap, factor: float, horizon: float, stream: DrawStream
) -> Iterator[float]:
    """Yield when one unit fails within the horizon, in seconds; `factor` says how many times as often as usual.

    The times between faults are independent of each other: a renewal process. A unit is as new at the start.
    """
    gaps = stream.below(_GAP)

    def times() -> Iterator[float]:
        now = 0.0
        for number in count():
            now += _gap(gap, gaps.at(number)) / factor
            yield round(now, DIGITS)

    return takewhile(lambda time: time < horizon, times())


def fixed_times(gap: FixedGap, horizon: float) -> Iterator[float]:
    """Yield the times of faults with the same time between all of them, within the horizon, in seconds."""
    between = parse_duration(gap.gap)
    first = parse_duration(gap.first) if gap.first else between
    times = (round(first + number * between, DIGITS) for number in count())
    return takewhile(lambda time: time < horizon, times)


def length(lasts: str | DrawnTime, number: int, stream: DrawStream) -> float | None:
    """Return the seconds for which a fault of a unit lasts, by its number; None where the schedule does not say it."""
    if isinstance(lasts, str):
        return round(parse_duration(lasts), DIGITS) if lasts else None
    drawn = stream.below(_LENGTH).at(number)
    if (lognormal := lasts.lognormal) is not None:
        p50, p95 = parse_duration(lognormal.p50), parse_duration(lognormal.p95)
        return round(LogNormal(p50=p50, p95=p95).value(drawn), DIGITS)
    if (exponential := lasts.exponential) is not None:
        return round(Exponential(mean=parse_duration(exponential.mean)).value(drawn), DIGITS)
    assert lasts.uniform is not None
    least, most = parse_duration(lasts.uniform.least), parse_duration(lasts.uniform.most)
    return round(Uniform(least=least, most=most).value(drawn), DIGITS)


def time_texts(field: str, lasts: str | DrawnTime) -> Iterator[tuple[str, str]]:
    """Yield the fields of a time that are durations, with their texts; `field` is that of the time."""
    if isinstance(lasts, str):
        if lasts:
            yield field, lasts
        return
    for name in DrawnTime.__struct_fields__:
        given = getattr(lasts, name)
        for each in msgspec.structs.fields(given) if given is not None else ():
            yield f"{field}.{name}.{each.encode_name}", getattr(given, each.name)


def _gap(gap: PoissonGap | WeibullGap, drawn: float) -> float:
    match gap:
        case PoissonGap():
            return -mean_gap(gap) * math.log1p(-drawn)
        case WeibullGap():
            # The inverse of 1 - exp(-(t / scale) ** shape): https://en.wikipedia.org/wiki/Weibull_distribution.
            return parse_duration(gap.scale) * float((-math.log1p(-drawn)) ** (1 / gap.shape))
        case _:
            assert_never(gap)
