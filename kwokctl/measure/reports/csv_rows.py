"""A report as CSV: a line for each number, also of each group."""

import csv
import io
from collections.abc import Iterator

from kwokctl.measure.figures.catalogue import STATISTICS
from kwokctl.measure.figures.values import Durations, Levels, Missing, Series, SingleNumber
from kwokctl.measure.reports.report import FigureReport, Figures, RunReport

_HEADINGS = ("group", "figure", "statistic", "value", "unit", "not measured")


def csv_of(report: RunReport) -> str:
    """Write a report."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_HEADINGS)
    for row in _rows(report.figures, ""):
        writer.writerow(row)
    for key, named in report.groups.items():
        for name, figures in named.items():
            writer.writerows(_rows(figures, f"{key}={name}"))
    return text.getvalue()


def _rows(figures: Figures, group: str) -> Iterator[tuple[str | float, ...]]:
    for name, each in figures.items():
        for statistic, value, why in _numbers(each):
            yield group, name, statistic, value, each.unit, why


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
