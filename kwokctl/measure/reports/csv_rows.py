"""A report as CSV: a line for each number, also of each group."""

import csv
import io
from collections.abc import Iterable, Iterator

import msgspec

from kwokctl.measure.figures.figure_catalogue import STATISTICS
from kwokctl.measure.figures.values import (
    Bounds,
    Durations,
    Levels,
    Missing,
    Series,
    SingleNumber,
    Value,
)
from kwokctl.measure.judging.assertions import number_of
from kwokctl.measure.reports.report import FigureReport, Figures, RunReport

_HEADINGS = ("group", "figure", "statistic", "value", "unit", "not measured")


def csv_of(report: RunReport) -> str:
    """Write a report."""
    return csv_lines(_HEADINGS, map(msgspec.structs.astuple, numbers_of(report)))


def csv_lines(headings: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Write rows below their headings."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(headings)
    writer.writerows(rows)
    return text.getvalue()


class ReportedNumber(msgspec.Struct, frozen=True):
    """One number of a report."""

    group: str
    figure: str
    statistic: str
    value: float | str
    """Empty if it was not measured."""
    unit: str
    why: str
    """Why it was not measured."""

    @property
    def name(self) -> str:
        """Its name in assertions."""
        group = f"[{self.group}]" if self.group else ""
        return f"{self.figure}{group}{'.' if self.statistic else ''}{self.statistic}"


def numbers_of(report: RunReport) -> Iterator[ReportedNumber]:
    """Yield all numbers of a report, also those of groups."""
    yield from _numbers_of(report.figures, "")
    for key, named in report.groups.items():
        for name, figures in named.items():
            yield from _numbers_of(figures, f"{key}={name}")


def _numbers_of(figures: Figures, group: str) -> Iterator[ReportedNumber]:
    for name, each in figures.items():
        for part, value in _with_parts(each):
            for statistic, number, why in _numbers(value):
                yield ReportedNumber(part or group, name, statistic, number, each.unit, why)


def _with_parts(each: FigureReport) -> Iterator[tuple[str, Value]]:
    """Yield a value, and those that are added up in it, with what they are in place of a group."""
    value = each.value
    yield "", value
    if isinstance(value, Levels | Bounds):
        for name, part in value.parts.items():
            yield f"{each.parts}={name}", part


def _numbers(value: Value) -> Iterator[tuple[str, float | str, str]]:
    """Yield the statistics of a value, each with its number, or why there is none."""
    match value:
        case Missing(why):
            yield "", "", why
        case SingleNumber(number):
            yield "", number, ""
        case _:
            for statistic in STATISTICS[_FORMS[type(value)]]:
                found = getattr(value, statistic)
                why = str(number_of(value, statistic)) if found is None else ""
                yield statistic, "" if found is None else found, why


_FORMS = {Durations: "distribution", Series: "series", Levels: "levels", Bounds: "bounds"}
