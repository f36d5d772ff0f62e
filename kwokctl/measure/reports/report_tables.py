"""The figures of a report as tables, which text and Markdown write in their ways."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

import msgspec

from kwokctl.measure.figures.figure import NO_FAULT
from kwokctl.measure.figures.incidents import PREFIX
from kwokctl.measure.figures.values import Bounds, Durations, Levels, Missing, Series, SingleNumber
from kwokctl.measure.reports.report import FigureReport, Figures
from kwokctl.measure.reports.words import number

_MOST_PARTS = 8
"""Of a value that are shown."""
Part = TypeVar("Part", Levels, Bounds)


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """Rows below their headings; the first column is a name, the last a note."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def tables_of(figures: Figures) -> list[Table]:
    """Return the tables that have rows."""
    tables = (
        _counts(figures), _latencies(figures), _numbers(figures), _rates(figures), _levels(figures),
        _bounds(figures),
    )  # fmt: skip
    return [table for table in tables if table.rows]


def histograms(figures: Figures) -> Iterator[tuple[str, str]]:
    """Yield the names of distributions, and how many values are in each class of more than one."""
    for name, each in figures.items():
        value = each.value
        if isinstance(value, Durations) and len(value.histogram) > 1:
            classes = (f"to {number(bound, each.unit)}: {n:,}" for bound, n in value.histogram)
            yield name, ", ".join(classes)


def not_measured(figures: Figures) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield why figures could not be measured, and which ones."""
    by_reason: dict[str, list[str]] = {}
    for name, each in figures.items():
        if isinstance(each.value, Missing):
            by_reason.setdefault(each.value.why, []).append(name)
    if NO_FAULT in by_reason:  # as of most runs: their names are many, and say nothing
        by_reason[NO_FAULT] = [f"{PREFIX}*"]
    yield from by_reason.items()


def details(figures: Figures) -> Iterator[tuple[str, str]]:
    """Yield the names of numbers that are made of several, and of what they are made."""
    for name, each in figures.items():
        if isinstance(each.value, SingleNumber | Levels):
            # Of parts such as clients, those without any need not be read.
            known = each.value.detail.items()
            parts = [f"{count:,} {what}" for what, count in known if count or not each.parts]
            if parts:
                yield name, ", ".join(parts)


def _counts(figures: Figures) -> Table:
    rows = [
        (name, number(each.value.value, each.unit), _noted(each, each.value.note))
        for name, each in figures.items()
        if isinstance(each.value, SingleNumber)
    ]
    return Table(title="Counts", headings=("figure", "value", ""), rows=tuple(rows))


def _latencies(figures: Figures) -> Table:
    chosen = {name: each for name, each in figures.items() if each.unit == "s"}
    return _distributions("Latencies", "latency", chosen)


def _numbers(figures: Figures) -> Table:
    chosen = {name: each for name, each in figures.items() if each.unit != "s"}
    return _distributions("Distributions", "distribution", chosen)


def _distributions(title: str, heading: str, figures: Figures) -> Table:
    rows = [
        (name, f"{value.count:,}",
         *(number(each, figure.unit) for each in (value.p50, value.p90, value.p99, value.max)),
         _noted(figure, _beside(value)))
        for name, figure in figures.items()
        if isinstance(value := figure.value, Durations)
    ]  # fmt: skip
    headings = (heading, "number", "p50", "p90", "p99", "max", "")
    return Table(title=title, headings=headings, rows=tuple(rows))


def _beside(value: Durations) -> str:
    """Say how many are not among the values: those that have not ended, and those with a lost time."""
    parts = ((value.open, "open"), (value.left_out, "lost"))
    return " ".join(f"{count:,} {what}" for count, what in parts if count)


def _noted(figure: FigureReport, note: str) -> str:
    """Return the note of a value, with that of its figure: how it is known."""
    return ", ".join(filter(None, (figure.basis, note)))


def _rates(figures: Figures) -> Table:
    rows = [
        (name, f"{value.count:,}", f"{value.peak:,}", _sustained(value), "")
        for name, each in figures.items()
        if isinstance(value := each.value, Series)
    ]
    headings = ("rate a second", "number", "peak", "best 10 s", "")
    return Table(title="Rates", headings=headings, rows=tuple(rows))


def _sustained(value: Series) -> str:
    return "-" if value.sustained is None else f"{value.sustained:,.1f}"


def _levels(figures: Figures) -> Table:
    rows = []
    for name, figure in figures.items():
        if isinstance(value := figure.value, Levels):
            rows += [
                (
                    label,
                    *(number(getattr(each, one), figure.unit) for one in _LEVELS),
                    _noted(figure, each.note),
                )
                for label, each in _with_parts(name, value, value.parts)
            ]
    return Table(title="Levels", headings=("level over time", *_LEVELS, ""), rows=tuple(rows))


_LEVELS = ("mean", "min", "max", "last")


def _bounds(figures: Figures) -> Table:
    rows = []
    for name, figure in figures.items():
        if isinstance(value := figure.value, Bounds):
            rows += [
                (label, f"{each.count:,}", *(_bound(each, one) for one in _BOUNDS), each.note)
                for label, each in _with_parts(name, value, value.parts)
            ]
    headings = ("latency, at most", "number", *_BOUNDS, "")
    return Table(title="Latencies by class", headings=headings, rows=tuple(rows))


_BOUNDS = ("p50", "p90", "p99")


def _bound(value: Bounds, statistic: str) -> str:
    bound: float | None = getattr(value, statistic)
    return f"> {number(value.largest, 's')}" if bound is None else number(bound, "s")


def _with_parts(name: str, value: Part, parts: Mapping[str, Part]) -> Iterator[tuple[str, Part]]:
    """Yield a value, and below it the first of those that are added up in it."""
    yield name, value
    for part in list(parts)[:_MOST_PARTS]:
        yield f"  {part}", parts[part]
