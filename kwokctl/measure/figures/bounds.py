"""Percentiles of histograms of components, of which only classes are known. Pure."""

from collections.abc import Mapping, Sequence
from math import ceil, inf

from kwokctl.measure.figures.values import Bounds, Missing, Value

Classes = tuple[tuple[float, ...], tuple[float, ...]]
"""The upper bounds of classes, and the numbers of values up to each."""


def classes_of(bounds: str, counts: Sequence[float]) -> Classes:
    """Return classes by the text of their bounds: `0.1,1,+Inf`."""
    return tuple(map(float, bounds.split(","))), tuple(counts)


def bounds(parts: Mapping[str, Classes], *, note: str = "", what: str) -> Value:
    """Return the bounds of the percentiles of parts that have the same classes; without a value, `what` says why."""
    found = {name: part for name, part in parts.items() if part[1][-1]}
    if not found:
        return Missing(what)
    limits = next(iter(found.values()))[0]
    counts = tuple(map(sum, zip(*(part[1] for part in found.values()), strict=True)))
    whole = _bounds((limits, counts), note)
    if len(found) < 2:
        return whole
    ordered = sorted(found.items(), key=lambda item: (-_worst(item[1]), -item[1][1][-1], item[0]))
    return _bounds((limits, counts), note, {name: _bounds(part) for name, part in ordered})


def bound_of(classes: Classes, share: float) -> float:
    """Return the upper bound of the class in which a percentile lies: at most this is its value."""
    limits, counts = classes
    rank = ceil(counts[-1] * share / 100)
    return next(limit for limit, count in zip(limits, counts, strict=True) if count >= rank)


def _worst(classes: Classes) -> float:
    return bound_of(classes, 99)


def _bounds(classes: Classes, note: str = "", parts: Mapping[str, Bounds] | None = None) -> Bounds:
    p50, p90, p99 = (bound_of(classes, share) for share in (50, 90, 99))
    return Bounds(
        count=round(classes[1][-1]),
        p50=None if p50 == inf else p50,
        p90=None if p90 == inf else p90,
        p99=None if p99 == inf else p99,
        largest=max(limit for limit in classes[0] if limit != inf),
        note=note,
        parts=dict(parts or {}),
    )
