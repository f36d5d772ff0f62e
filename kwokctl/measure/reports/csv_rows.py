"""A report as CSV: a line for each number, also of each group."""

import csv
import io
from collections.abc import Iterable, Iterator

import msgspec

from kwokctl.measure.figures.catalogue import STATISTICS
from kwokctl.measure.figures.values import Durations, Levels, Missing, Series, SingleNumber
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
        for statistic, value, why in _numbers(each):
            yield ReportedNumber(group, name, statistic, value, each.unit, why)


def _numbers(each: FigureReport) -> Iterator[tuple[str, float | str, str]]:
    match each.value:
        case Missing(why):
            yield "", "", why
        case SingleNumber(value):
            yield "", value, ""
        case Durations() as found:
            for statistic in STATISTICS["distribution"]:
                yield statistic, getattr(found, statistic), ""
        case Levels() as found:
            for statistic in STATISTICS["levels"]:
                yield statistic, getattr(found, statistic), ""
        case Series() as found:
            for statistic in STATISTICS["series"]:
                value = getattr(found, statistic)
                why = "it went on for less than 10 s" if value is None else ""
                yield statistic, "" if value is None else value, why
