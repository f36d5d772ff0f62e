"""A report as Markdown, for a pull request or a page."""

from collections.abc import Iterator

from kwokctl.measure.reports import judged
from kwokctl.measure.reports.report import Figures, RunReport
from kwokctl.measure.reports.report_tables import (
    Table,
    details,
    histograms,
    not_measured,
    tables_of,
)


def markdown_of(report: RunReport) -> str:
    """Write a report."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: RunReport) -> Iterator[str]:
    yield from (f"# {judged.headline(report)}: {plain(judged.subject(report))}", "")
    for problem in (*report.verdict.problems, *report.verdict.remarks):
        yield f"- {plain(problem)}"
    yield f"- of the run: {plain(judged.scope_text(report))}"
    if report.assertions:
        yield from ("", "## Assertions", "")
        for each in report.assertions:
            yield f"- {plain(judged.assertion_text(each))}"
    yield from _figures(report.figures, "##")
    for key, named in report.groups.items():
        for name, figures in named.items():
            yield from ("", f"## Group {plain(key)}={plain(name)}")
            for table in tables_of(figures):
                yield from ("", *table_lines(table))
    yield from ("", "## Conditions", "")
    for condition in judged.condition_texts(report):
        yield f"- {plain(condition)}"
    yield f"- record: {plain(report.record)}"


def _figures(figures: Figures, level: str) -> Iterator[str]:
    for table in tables_of(figures):
        yield from ("", f"{level} {table.title}", "", *table_lines(table))
    lists = (
        ("Of these", [*details(figures)]),
        ("Histograms", [*histograms(figures)]),
        ("Not measured", [(why, ", ".join(names)) for why, names in not_measured(figures)]),
    )
    for title, rows in lists:
        if rows:
            yield from ("", f"{level} {title}", "")
            for name, text in rows:
                yield f"- {plain(name)}: {plain(text)}"


def table_lines(table: Table) -> Iterator[str]:
    """Write a table."""
    last = len(table.headings) - 1
    yield _row(table.headings)
    yield _row(tuple("---" if place in (0, last) else "---:" for place in range(last + 1)))
    for row in table.rows:
        yield _row(tuple(map(plain, row)))


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def plain(text: str) -> str:
    """Write a text so that Markdown shows it as it is."""
    return "".join(f"\\{each}" if each in "\\`*_[]<>|" else each for each in text)
