"""The page of repeated runs: the median of each figure, and how far the runs are apart. Pure."""

from collections.abc import Iterator, Sequence

from kwokctl.measure.pages.page_data import (
    HeadlineFigure,
    IntervalRow,
    IntervalsItem,
    PageData,
    PageSection,
    PageVerdict,
    TextItem,
)
from kwokctl.measure.reports.page_tables import exact_table, table_item
from kwokctl.measure.reports.repeated import RepeatedNumber, RepeatedReport
from kwokctl.measure.reports.sheets import Sheet
from kwokctl.measure.reports.words import number

_QUOTED = (
    "pods.created_to_bound.p50",
    "pods.created_to_bound.p99",
    "rates.bound.sustained",
    "jobs.jct.p50",
)
MOST_ROWS = 60
"""Figures whose ranges are drawn."""


def repeated_page(report: RepeatedReport, sheet: Sheet) -> PageData:
    """Return the page; `sheet` is what the other forms say of it."""
    numbers = {each.name: each for each in report.numbers}
    quoted = [numbers[name] for name in _QUOTED if name in numbers]
    return PageData(
        kind="repeated",
        title=report.cluster or "a cluster",
        subtitle=f"{len(report.runs)} runs",
        verdict=PageVerdict(
            level="good" if report.passed else "bad", text=sheet.title, notes=sheet.remarks
        ),
        headline=[*_headlines(quoted)],
        sections=[*_sections(report, sheet)],
    )


def _headlines(numbers: Sequence[RepeatedNumber]) -> Iterator[HeadlineFigure]:
    for each in numbers:
        if each.median is not None:
            value, _, unit = number(each.median, each.unit).partition(" ")
            yield HeadlineFigure(name=f"{each.name}, median", value=value, unit=unit)


def _sections(report: RepeatedReport, sheet: Sheet) -> Iterator[PageSection]:
    tables = [table_item(table) for table in sheet.tables]
    yield PageSection(id="section-runs", title="Runs", items=tables)
    rows = [row for each in report.numbers if (row := _row(each)) is not None]
    if rows:
        left_out = len(rows) - MOST_ROWS
        more = f"; {left_out:,} more are in the table" if left_out > 0 else ""
        ranges = IntervalsItem(
            id="ranges",
            title="Range of the runs",
            note=f"how far the least and the most of the runs are from the median{more}",
            rows=rows[:MOST_ROWS],
        )
        yield PageSection(id="section-ranges", title="Ranges", items=[ranges])
    numbers = exact_table(sheet.headings, sheet.rows)
    texts = [
        TextItem(id=f"list-{place}", title=heading, lines=lines)
        for place, (heading, lines) in enumerate(sheet.lists)
    ]
    yield PageSection(id="section-numbers", title="Numbers", items=[numbers, *texts])


def _row(each: RepeatedNumber) -> IntervalRow | None:
    """Return the range of a figure that all runs have and that differs; None for any other."""
    if not each.median or len(each.known) < 2 or min(each.known) == max(each.known):
        return None
    low, high = (100 * (value / each.median - 1) for value in (min(each.known), max(each.known)))
    return IntervalRow(
        name=each.name,
        a=number(min(each.known), each.unit),
        b=number(max(each.known), each.unit),
        low=low,
        middle=0.0,
        high=high,
        verdict=f"median {number(each.median, each.unit)}",
    )
