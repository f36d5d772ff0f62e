"""Compares the runs of B with those of A. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from math import isinf
from statistics import median
from typing import Literal

import msgspec

from kwokctl.config.nearest import did_you_mean
from kwokctl.errors import ConfigError, UsageError
from kwokctl.measure.comparing.rank_interval import RankInterval, rank_interval
from kwokctl.measure.comparing.same_faults import HINT, are_unequal, in_words
from kwokctl.measure.comparing.sample import RunSample
from kwokctl.measure.figures.figure import Better
from kwokctl.measure.judging.assertions import FigureNumber

FORM = "kwokctl.dev/measure-comparison"
VERSION = 1
USUAL_FIGURES = ("pods.created_to_bound.p50", "pods.created_to_bound.p99", "jobs.jct.p50")
"""The figures that are compared unless the user names some: those of them that were measured."""
CompareVerdict = Literal["better", "worse", "no difference seen", "too few runs", "not measured"]


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """The values of one figure in the runs of one side."""

    median: float
    values: tuple[float, ...]


class ComparedFigure(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One figure of both sides."""

    figure: str
    unit: str
    better: Better
    verdict: CompareVerdict
    passed: bool
    """Whether it is within the limit, if there is one."""
    a: Side | None = None
    b: Side | None = None
    ratio: float | None = None
    """The median of the ratios of each run of B to each of A."""
    low: float | None = None
    """The lower end of the interval of the ratio."""
    high: float | None = None
    smallest: float | None = None
    """The smallest difference that these runs could have shown, as a share: 0.1 is 10 %."""
    why: str = ""
    """Why it was not measured."""

    @property
    def change(self) -> float | None:
        """The difference of B as a share of A: 0.1 is 10 % more; None without a ratio, and where A is 0."""
        return None if self.ratio is None or isinf(self.ratio) else self.ratio - 1


class ComparedSide(msgspec.Struct, frozen=True, kw_only=True):
    """The runs of one side."""

    name: str
    records: tuple[str, ...]


class RunComparison(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The outcome."""

    form: str = FORM
    version: int = VERSION
    passed: bool
    a: ComparedSide
    b: ComparedSide
    max_worse: float | None
    """The limit for how much worse B may be, as a share; None if there is no limit."""
    differences: dict[str, tuple[str, str]]
    """The conditions that differ, with those of A and of B."""
    figures: tuple[ComparedFigure, ...]
    false_alarms: float | None
    """The share of comparisons of equal things that would call at least one of the figures worse, at most."""
    remarks: tuple[str, ...]
    """Reasons for which the machine may be what differs."""


class CompareRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The request of a comparison."""

    max_worse: float | None = None
    across: tuple[str, ...] = ()
    """The conditions that may differ: they are what is compared."""
    omits_missing: bool = False
    """Whether figures are left out that no run has."""


def compared(a: RunSample, b: RunSample, wanted: CompareRequest) -> RunComparison:
    """Compare two samples.

    Raises ConfigError if their conditions differ in more than the user says, or if there is a limit and one had more
    faults; UsageError for figures without a better side.
    """
    for number in a.figures:
        check_direction(number)
    differences = _differences(a, b)
    _check_conditions(a, b, differences, wanted.across)
    figures = [
        _figure(each, a, b, wanted.max_worse)
        for each in a.figures
        if _is_wanted(each, a, b, wanted)
    ]
    if not figures:
        raise ConfigError(
            f"none of the usual figures was measured: {', '.join(each.text for each in a.figures)}",
            hint="name others with --figure; list them with: kwokctl measure fields",
        )
    _check_suppressed(a, b, wanted)
    interval = rank_interval([1.0] * len(a.runs), [1.0] * len(b.runs))
    return RunComparison(
        passed=all(each.passed for each in figures),
        a=_side(a),
        b=_side(b),
        max_worse=wanted.max_worse,
        differences=differences,
        figures=tuple(figures),
        false_alarms=min(1.0, interval.false_alarms * len(figures)) if interval else None,
        remarks=tuple(_remarks(a, b)),
    )


def check_direction(number: FigureNumber) -> None:
    """Raise UsageError for a figure of which neither less nor more is better."""
    if number.figure.direction_of(number.statistic) == "neither":
        raise UsageError(
            f"'--figure' is '{number.text}', of which neither less nor more is better",
            hint="compare it with a number: --assert of 'kwokctl measure run'",
        )


def _is_wanted(number: FigureNumber, a: RunSample, b: RunSample, wanted: CompareRequest) -> bool:
    runs = (*a.runs, *b.runs)
    is_missing = all(isinstance(run.numbers[number.text], str) for run in runs)
    return not (wanted.omits_missing and is_missing)


def _figure(
    number: FigureNumber, a: RunSample, b: RunSample, max_worse: float | None
) -> ComparedFigure:
    better = number.figure.direction_of(number.statistic)
    unit = number.figure.unit
    if why := _why_missing(number.text, a, b):
        return ComparedFigure(
            figure=number.text, unit=unit, better=better, verdict="not measured",
            passed=max_worse is None, why=why,
        )  # fmt: skip
    ours, theirs = _values(number.text, a), _values(number.text, b)
    interval = rank_interval(ours.values, theirs.values)
    return ComparedFigure(
        figure=number.text,
        unit=unit,
        better=better,
        verdict=_verdict(interval, better),
        passed=max_worse is None or _is_within(interval, better, max_worse),
        a=ours,
        b=theirs,
        ratio=interval.ratio if interval else None,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        smallest=_smallest(interval),
    )


def _why_missing(name: str, a: RunSample, b: RunSample) -> str:
    found = ((run.record, run.numbers[name]) for run in (*a.runs, *b.runs))
    return next((f"{why} ({record})" for record, why in found if isinstance(why, str)), "")


def _values(name: str, sample: RunSample) -> Side:
    found = tuple(value for run in sample.runs if isinstance(value := run.numbers[name], float))
    return Side(median=median(found), values=found)


def _verdict(interval: RankInterval | None, better: Better) -> CompareVerdict:
    if interval is None:
        return "too few runs"
    if interval.low <= 1 <= interval.high:
        return "no difference seen"
    return "worse" if (interval.low > 1) == (better == "less") else "better"


def _is_within(interval: RankInterval | None, better: Better, max_worse: float) -> bool:
    """Return whether the interval is not wholly beyond the limit; too few runs are not within any."""
    if interval is None:
        return False
    return interval.low <= 1 + max_worse if better == "less" else interval.high >= 1 - max_worse


def _smallest(interval: RankInterval | None) -> float | None:
    """Return how far the ratio must be from 1 for an interval of this width to lie beside it."""
    if interval is None or not interval.low or not interval.ratio or isinf(interval.high):
        return None
    return max(interval.ratio / interval.low, interval.high / interval.ratio) - 1


def _remarks(a: RunSample, b: RunSample) -> Iterator[str]:
    """Say in what the machine may have differed, which is no difference of A and B."""
    ours, theirs = ([run.wall for run in side.runs] for side in (a, b))
    are_apart = max(ours) < min(theirs) or max(theirs) < min(ours)
    if are_apart and len(ours) + len(theirs) > 2:  # of two runs one is always the first
        yield (
            "the runs of A and B were not made in turn: what has changed on the machine meanwhile counts as a "
            "difference"
        )
    loads = [[run.load for run in side.runs if run.load is not None] for side in (a, b)]
    if unequal := _unequal_storms(a, b):
        yield f"{unequal}: one side had more faults than the other"
    if all(loads):
        yield "load of the machine before the runs: {:.1f} in A, {:.1f} in B".format(
            *map(median, loads)
        )


def _unequal_storms(a: RunSample, b: RunSample) -> str:
    """Say how many faults of schedules were not injected, if that differs too much; empty if it does not, or if both sides had the same storms."""
    ours, theirs = ([run.suppressed or 0 for run in side.runs] for side in (a, b))
    if sorted(ours) == sorted(theirs) or not are_unequal([*ours, *theirs]):
        return ""
    return f"the runs have suppressed different numbers of faults: {in_words(ours)} in A, {in_words(theirs)} in B"


def _check_suppressed(a: RunSample, b: RunSample, wanted: CompareRequest) -> None:
    """Raise ConfigError if there is a limit, and the runs did not have the same faults."""
    unequal = _unequal_storms(a, b)
    if unequal and wanted.max_worse is not None:
        raise ConfigError(unequal, hint=HINT.format("compare without --max-worse"))


def _differences(a: RunSample, b: RunSample) -> dict[str, tuple[str, str]]:
    names = dict.fromkeys(name for run in (*a.runs, *b.runs) for name in run.conditions)
    return {
        name: (_text(ours), _text(theirs))
        for name in names
        if not _are_equal(ours := _condition(name, a), theirs := _condition(name, b))
    }


def _condition(name: str, sample: RunSample) -> list[str]:
    return sorted(run.conditions.get(name, "") for run in sample.runs)


def _are_equal(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Return whether a condition is the same in all runs, or at least as often the same on both sides."""
    return ours == theirs or len({*ours, *theirs}) == 1


def _text(values: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(each or "none" for each in values))


def _check_conditions(
    a: RunSample, b: RunSample, differences: Mapping[str, tuple[str, str]], across: Sequence[str]
) -> None:
    known = {name for run in (*a.runs, *b.runs) for name in run.conditions}
    for name in across:
        if name not in known:
            raise UsageError(
                f"'--across' is '{name}', no condition of these runs",
                hint=did_you_mean(name, sorted(known))
                or f"choose from: {', '.join(sorted(known))}",
            )
    if refused := {name: each for name, each in differences.items() if name not in across}:
        said = (f"{name}: {ours} in A, {theirs} in B" for name, (ours, theirs) in refused.items())
        words = " ".join(f"--across '{name}'" for name in refused)
        raise ConfigError(
            "the runs were made under conditions that differ",
            detail="\n".join(said),
            hint=f"if that is what you compare, say so: {words}",
        )


def _side(sample: RunSample) -> ComparedSide:
    return ComparedSide(name=sample.name, records=tuple(run.record for run in sample.runs))
