"""Tables of a report as items of a page. Pure."""

from collections.abc import Iterator, Mapping, Sequence

from kwokctl.measure.figures.values import Durations, SingleNumber
from kwokctl.measure.judging.assertions import Judgement
from kwokctl.measure.pages.charts import item_id
from kwokctl.measure.pages.page_data import TableCell, TableColumn, TableItem
from kwokctl.measure.reports.csv_rows import ReportedNumber, numbers_of
from kwokctl.measure.reports.report import FigureReport, Figures, RunReport
from kwokctl.measure.reports.report_tables import Table, details, not_measured, tables_of
from kwokctl.measure.reports.words import number

MOST_GROUPS = 200
"""Rows of the table of groups."""
MOST_NUMBERS = 2000
"""Rows of the table of all numbers."""
_MOST_LETTERS = 4000
"""Letters of the parts of one figure."""
_OF_GROUPS = (
    ("pods.created", ""), ("pods.created_to_bound", "p50"), ("pods.created_to_bound", "p99"),
    ("pods.created_to_running", "p99"), ("jobs.done", ""), ("jobs.jct", "p50"), ("gangs.scheduling_latency", "p99"),
)  # fmt: skip
"""The figures of a group that a table shows, with the statistic of each."""
_OF_PLANE = ("api.", "etcd.", "scheduler.", "components.", "clients.", "metrics.")
"""The beginnings of the names of figures of the control plane."""
_NONE = "-"


def table_item(table: Table, *, name: str = "") -> TableItem:
    """Return a table of a report, whose first and last columns are texts and the others numbers."""
    last = len(table.headings) - 1
    columns = [
        TableColumn(title=heading, align="left" if place in (0, last) else "right")
        for place, heading in enumerate(table.headings)
    ]
    return TableItem(
        id=f"table-{item_id(name or table.title)}",
        title=table.title,
        columns=columns,
        rows=table.rows,
    )


def plane_tables(report: RunReport) -> Iterator[TableItem]:
    """Yield the tables of the figures of the control plane."""
    figures = {name: each for name, each in report.figures.items() if name.startswith(_OF_PLANE)}
    for table in tables_of(figures):
        yield table_item(table, name=f"plane {table.title}")
    yield from _parts_table("table-plane-parts", figures)


def figure_tables(report: RunReport) -> Iterator[TableItem]:
    """Yield the tables of the other figures, of exact numbers, and of what was not measured."""
    others = {name: each for name, each in report.figures.items() if not name.startswith(_OF_PLANE)}
    yield from map(table_item, tables_of(others))
    yield from _parts_table("table-parts", others)
    yield number_table([*numbers_of(report)])
    missing = [(", ".join(names), why) for why, names in not_measured(report.figures)]
    if missing:
        yield _texts("table-missing", "Not measured", ("figures", "why"), missing)


def _parts_table(name: str, figures: Figures) -> Iterator[TableItem]:
    """Yield a table of the figures that are made of several numbers, such as one for each reason."""
    rows = [(figure, _cut(parts)) for figure, parts in details(figures)]
    if rows:
        yield _texts(name, "What they are made of", ("figure", "parts"), rows)


def _cut(parts: str) -> str:
    """Return the first parts: of clients there may be thousands."""
    more = "… (all of them stand in JSON)"
    return parts if len(parts) <= _MOST_LETTERS else parts[:_MOST_LETTERS] + more


def number_table(numbers: Sequence[ReportedNumber]) -> TableItem:
    """Return all numbers as JSON has them, by the names that assertions use."""
    known = [each for each in numbers if not each.why]
    left_out = len(known) - MOST_NUMBERS
    note = "the numbers of the JSON report, not rounded"
    if left_out > 0:
        note += f"; {left_out:,} more, those of groups and parts, stand in JSON and CSV"
    return TableItem(
        id="table-numbers",
        title="Every number",
        note=note,
        columns=[
            TableColumn(title="number"),
            TableColumn(title="value", align="right"),
            TableColumn(title="unit"),
        ],
        rows=[(each.name, exact(each.value), each.unit) for each in known[:MOST_NUMBERS]],
    )


def exact(value: float | str) -> str:
    """Return a number as JSON has it, but whole ones without a point."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def exact_table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> TableItem:
    """Return the rows of a CSV report; an empty cell is a number that was not measured."""
    return TableItem(
        id="table-numbers",
        title="Every number",
        note="the numbers of the JSON report, not rounded",
        columns=[
            TableColumn(title=each, align="right" if place else "left")
            for place, each in enumerate(headings)
        ],
        rows=[[_as_text(each) for each in row] for row in rows[:MOST_NUMBERS]],
    )


def _as_text(value: object) -> str:
    if value is None:
        return ""
    return exact(value) if isinstance(value, float) else str(value)


def assertion_table(judgements: Sequence[Judgement]) -> TableItem | None:
    """Return the outcomes of assertions; None without any."""
    if not judgements:
        return None
    rows = [
        (
            TableCell(text="ok", level="good")
            if each.passed
            else TableCell(text="FAILED", level="bad"),
            each.assertion,
            f"not measured: {each.why}" if each.actual is None else number(each.actual, each.unit),
        )
        for each in judgements
    ]
    headings = ("", "assertion", "value")
    columns = [TableColumn(title=each) for each in headings]
    return TableItem(id="assertions", title="Assertions", columns=columns, rows=rows)


def group_tables(groups: Mapping[str, Mapping[str, Figures]]) -> Iterator[TableItem]:
    """Yield a table for each key of groups: a row for each of the first `MOST_GROUPS`."""
    for key, named in groups.items():
        shown = [
            (figure, statistic)
            for figure, statistic in _OF_GROUPS
            if any(_cell(each.get(figure), statistic) != _NONE for each in named.values())
        ]
        heads = [TableColumn(title=".".join(filter(None, each)), align="right") for each in shown]
        rows = [
            (name, *(_cell(figures.get(figure), statistic) for figure, statistic in shown))
            for name, figures in [*named.items()][:MOST_GROUPS]
        ]
        left_out = len(named) - MOST_GROUPS
        yield TableItem(
            id=f"groups-{item_id(key)}",
            title=f"By {key}",
            note=f"{left_out:,} more groups stand in JSON and CSV" if left_out > 0 else "",
            columns=[TableColumn(title=key), *heads],
            rows=rows,
        )


def _cell(figure: FigureReport | None, statistic: str) -> str:
    value = figure.value if figure else None
    if figure is None or not isinstance(value, SingleNumber | Durations):
        return _NONE
    found = value.value if isinstance(value, SingleNumber) else getattr(value, statistic)
    return number(found, figure.unit)


def _texts(
    name: str, title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]
) -> TableItem:
    columns = [TableColumn(title=each) for each in headings]
    return TableItem(id=name, title=title, columns=columns, rows=rows)
