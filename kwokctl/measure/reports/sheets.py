"""A report on several runs in a shape that each form writes in its way. Pure."""

from collections.abc import Callable, Iterator, Mapping

import msgspec

from kwokctl.measure.reports import markdown, text
from kwokctl.measure.reports.csv_rows import csv_lines
from kwokctl.measure.reports.junit import suite
from kwokctl.measure.reports.report_tables import Table


class Sheet(msgspec.Struct, frozen=True, kw_only=True):
    """A title, remarks, tables and lists."""

    title: str
    remarks: tuple[str, ...]
    tables: tuple[Table, ...]
    lists: tuple[tuple[str, tuple[str, ...]], ...]
    """Headings, each with what is below it."""
    cases: tuple[tuple[str, str], ...]
    """The names of test cases, each with the reason of its failure, which is empty if it passed."""
    headings: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    """All numbers, below these headings."""


def text_of(sheet: Sheet) -> str:
    """Write 80 columns."""
    return "\n".join(_text_lines(sheet)) + "\n"


def markdown_of(sheet: Sheet) -> str:
    """Write Markdown."""
    return "\n".join(_markdown_lines(sheet)) + "\n"


def csv_of(sheet: Sheet) -> str:
    """Write all numbers."""
    return csv_lines(sheet.headings, sheet.rows)


def junit_of(sheet: Sheet) -> str:
    """Write what is tested."""
    return suite(sheet.cases, sheet.title)


SHEET_FORMS: Mapping[str, Callable[[Sheet], str]] = {
    "summary": text_of,
    "text": text_of,
    "markdown": markdown_of,
    "csv": csv_of,
    "junit": junit_of,
}


def _text_lines(sheet: Sheet) -> Iterator[str]:
    yield from text.wrapped(sheet.title)
    for remark in sheet.remarks:
        yield from text.wrapped(remark, text.INDENT)
    for table in sheet.tables:
        yield from ("", *text.table_lines(table))
    for heading, lines in sheet.lists:
        yield from ("", heading)
        for line in lines:
            yield from text.wrapped(line, text.INDENT)


def _markdown_lines(sheet: Sheet) -> Iterator[str]:
    yield from (f"# {markdown.plain(sheet.title)}", "")
    for remark in sheet.remarks:
        yield f"- {markdown.plain(remark)}"
    for table in sheet.tables:
        yield from ("", f"## {table.title}", "", *markdown.table_lines(table))
    for heading, lines in sheet.lists:
        yield from ("", f"## {heading}", "")
        for line in lines:
            yield f"- {markdown.plain(line)}"
