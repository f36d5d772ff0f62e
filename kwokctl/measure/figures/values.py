"""The values of figures, and how they are computed from times.

A percentile is the *nearest rank*: p99 is the smallest of the values such that at least 99 % of them are
not larger. It is always one of the values, never something between two. Pure.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from math import ceil

import msgspec

from kwokctl.measure.record.run_clock import SECOND

BEST = 10
"""Seconds of a sustained rate."""
CLASS_BOUNDS = [step * 10**power / 1000 for power in range(7) for step in (1, 2, 5)]
"""Upper bounds of the classes of a histogram, in seconds: 1 ms, 2 ms, 5 ms, and so on."""


class Missing(msgspec.Struct, frozen=True, tag="missing", tag_field="kind"):
    """A figure that could not be measured."""

    why: str


class SingleNumber(msgspec.Struct, frozen=True, tag="number", tag_field="kind"):
    """A single number."""

    value: float
    detail: dict[str, int] = {}
    """Its parts, such as a count for each reason."""
    note: str = ""


class Durations(msgspec.Struct, frozen=True, tag="distribution", tag_field="kind", rename="camel"):
    """Many durations in seconds, or many numbers."""

    count: int
    mean: float
    min: float
    p50: float
    p90: float
    p99: float
    max: float
    histogram: tuple[tuple[float, int], ...]
    """Upper bounds of classes, and how many of them are in each."""
    left_out: int = 0
    """The number of those that ended and are not among these: something of them was lost in a gap, or never seen."""
    open: int = 0
    """The number of those that have begun and not ended."""


class Series(msgspec.Struct, frozen=True, tag="series", tag_field="kind"):
    """The number of times that something happened in each second."""

    count: int
    start: float
    """Seconds from the beginning of the run to the first second."""
    values: tuple[int, ...]
    peak: int
    """The most in any one second."""
    sustained: float | None
    """The average of the best ten seconds; None if it happened in less than ten."""


class Levels(msgspec.Struct, frozen=True, tag="levels", tag_field="kind"):
    """A level over time, such as the number of pods that wait."""

    mean: float
    """Weighted by time."""
    min: float
    max: float
    first: float
    last: float
    start: float
    """Seconds from the beginning of the run to the first of `values`."""
    step: float
    """The seconds that each of `values` is for."""
    values: tuple[float, ...]
    """The mean in each step."""
    detail: dict[str, int] = {}
    """Its parts, such as a count for each reason."""
    note: str = ""
    parts: dict[str, "Levels"] = {}
    """Of each of those that are added up here."""


class Bounds(msgspec.Struct, frozen=True, tag="bounds", tag_field="kind"):
    """Many durations of which only the classes are known: a percentile is at most the bound of its class."""

    count: int
    p50: float | None
    """None if it is above all classes."""
    p90: float | None
    p99: float | None
    largest: float
    """The bound of the largest class."""
    note: str = ""
    parts: dict[str, "Bounds"] = {}
    """Of each of those that are added up here, those with the largest p99 first."""


Value = Missing | SingleNumber | Durations | Series | Levels | Bounds


def percentile(ordered: Sequence[float], share: float) -> float:
    """Return the nearest rank of values in ascending order; `share` is above 0 and at most 100."""
    return ordered[ceil(len(ordered) * share / 100) - 1]


def distribution(
    durations: Iterable[int], *, left_out: int = 0, still_open: int = 0, what: str = "none ended"
) -> Value:
    """Return the distribution of durations in nanoseconds; without any, `what` says why."""
    in_seconds = (each / SECOND for each in durations)
    return distribution_of(in_seconds, left_out=left_out, still_open=still_open, what=what)


def distribution_of(
    values: Iterable[float], *, left_out: int = 0, still_open: int = 0, what: str = "none ended"
) -> Value:
    """Return the distribution of seconds or numbers, likewise."""
    ordered = sorted(values)
    if not ordered:
        lost = f"of {left_out:,} that ended, the times were lost or never seen"
        return Missing(lost if left_out else what)
    return Durations(
        count=len(ordered),
        mean=sum(ordered) / len(ordered),
        min=ordered[0],
        p50=percentile(ordered, 50),
        p90=percentile(ordered, 90),
        p99=percentile(ordered, 99),
        max=ordered[-1],
        histogram=_histogram(ordered),
        left_out=left_out,
        open=still_open,
    )


def _histogram(ordered: Sequence[float]) -> tuple[tuple[float, int], ...]:
    counts: dict[float, int] = {}
    for value in ordered:
        place = bisect_left(CLASS_BOUNDS, value)
        bound = CLASS_BOUNDS[place] if place < len(CLASS_BOUNDS) else ordered[-1]
        counts[bound] = counts.get(bound, 0) + 1
    return tuple(counts.items())


def series(times: Iterable[int], begin: int) -> Value:
    """Return how often something happened, by the times at which it did."""
    ordered = sorted(times)
    if not ordered:
        return Missing("it never happened")
    first, last = ((time - begin) // SECOND for time in (ordered[0], ordered[-1]))
    values = [0] * (last - first + 1)
    for time in ordered:
        values[(time - begin) // SECOND - first] += 1
    is_long = ordered[-1] - ordered[0] >= BEST * SECOND
    return Series(
        count=len(ordered),
        start=float(first),
        values=tuple(values),
        peak=_most(ordered, SECOND),
        sustained=_most(ordered, BEST * SECOND) / BEST if is_long else None,
    )


def _most(ordered: Sequence[int], window: int) -> int:
    """Return the most times that lie in any window of this length."""
    most = begin = 0
    for end, time in enumerate(ordered, 1):
        while time - ordered[begin] >= window:
            begin += 1
        most = max(most, end - begin)
    return most
