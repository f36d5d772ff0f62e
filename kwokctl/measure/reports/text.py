"""A report as text of 80 columns."""

from collections.abc import Iterable, Iterator
from textwrap import wrap

from kwokctl.measure.reports import judged
from kwokctl.measure.reports.report import Figures, RunReport
from kwokctl.measure.reports.report_tables import (
    Table,
    details,
    histograms,
    not_measured,
    tables_of,
)

_WIDTH = 80
INDENT = "  "


def text_of(report: RunReport) -> str:
    """Write a report."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: RunReport) -> Iterator[str]:
    yield from beginning_lines(report)
    yield from figure_lines(report.figures)
    for key, named in report.groups.items():
        for name, figures in named.items():
            yield from ("", f"Group {key}={name}")
            yield from group_lines(figures)
    yield from ("", "Conditions")
    yield from wrapped("; ".join(judged.condition_texts(report)), INDENT)
    yield from wrapped(f"record: {report.record}", INDENT)


def beginning_lines(report: RunReport) -> Iterator[str]:
    """Write the verdict, what must be known before the figures are read, and what was measured."""
    yield from wrapped(f"{judged.headline(report)}: {judged.subject(report)}")
    for problem in (*report.verdict.problems, *report.verdict.remarks):
        yield from wrapped(problem, INDENT)
    for each in report.assertions:
        yield from wrapped(judged.assertion_text(each), INDENT)
    yield from wrapped(f"of the run: {judged.scope_text(report)}", INDENT)


def figure_lines(figures: Figures) -> Iterator[str]:
    """Write all tables of figures, their parts, and what was not measured."""
    for table in tables_of(figures):
        yield from ("", *table_lines(table))
    if of_what := [*details(figures)]:
        yield from ("", "Of these")
        for name, text in of_what:
            yield from wrapped(f"{name}: {text}", INDENT)
    if classes := [*histograms(figures)]:
        yield from ("", "Histograms")
        for name, text in classes:
            yield from wrapped(f"{name}: {text}", INDENT)
    if reasons := [*not_measured(figures)]:
        yield from ("", "Not measured")
        for why, names in reasons:
            yield from wrapped(f"{why}: {', '.join(names)}", INDENT)


def group_lines(figures: Figures) -> Iterator[str]:
    """Write the tables of figures alone, as of a group."""
    for table in tables_of(figures):
        yield from table_lines(table)


def table_lines(table: Table) -> Iterator[str]:
    """Write columns as wide as their widest cell; the last cell is a note, for which there may be no room."""
    rows = [row[:-1] for row in (table.headings, *table.rows)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    notes = ["", *(row[-1] for row in table.rows)]
    for row, note in zip(rows, notes, strict=True):
        first, *others = zip(row, widths, strict=True)
        cells = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
        line = "  ".join(cells).rstrip()
        if len(line) + len(note) + 2 <= _WIDTH:
            yield f"{line}  {note}".rstrip()
        else:
            yield line
            yield from wrapped(note, 2 * INDENT)


def wrapped(text: str, indent: str = "") -> Iterable[str]:
    """Break a text into lines, of which all but the first are indented further."""
    return wrap(
        text, _WIDTH, initial_indent=indent, subsequent_indent=indent + INDENT,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
