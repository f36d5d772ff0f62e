"""The forms of a report, by their names and by the endings of files."""

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from kwokctl.errors import UsageError
from kwokctl.host.files import write_atomic
from kwokctl.measure.comparing.comparison import RunComparison
from kwokctl.measure.histories.history import History
from kwokctl.measure.histories.history_files import history_of
from kwokctl.measure.pages.join import html, read_parts
from kwokctl.measure.pages.page_data import PageData
from kwokctl.measure.reports.compared_page import compared_page
from kwokctl.measure.reports.csv_rows import csv_of
from kwokctl.measure.reports.junit import junit_of
from kwokctl.measure.reports.markdown import markdown_of
from kwokctl.measure.reports.pod_rows import MOST_INSIDE, pods_csv, pods_inside
from kwokctl.measure.reports.repeated import RepeatedReport
from kwokctl.measure.reports.repeated_page import repeated_page
from kwokctl.measure.reports.report import RunReport
from kwokctl.measure.reports.run_page import run_page
from kwokctl.measure.reports.sheets import SHEET_FORMS, Sheet
from kwokctl.measure.reports.summary import summary_of
from kwokctl.measure.reports.text import text_of


def json_of(report: msgspec.Struct) -> str:
    """Write a report as JSON; schemas in docs/reference describe those of each kind."""
    return msgspec.json.format(msgspec.json.encode(report), indent=2).decode() + "\n"


SUMMARY, TEXT, HTML = "summary", "text", "html"
FORMS: Mapping[str, Callable[[RunReport], str]] = {
    SUMMARY: summary_of,
    TEXT: text_of,
    "markdown": markdown_of,
    "json": json_of,
    "csv": csv_of,
    "junit": junit_of,
}
"""The forms that need the report alone: a page draws the record, too."""
_ENDINGS = {
    ".txt": TEXT, ".md": "markdown", ".html": HTML, ".json": "json", ".csv": "csv", ".xml": "junit",
}  # fmt: skip


def form_of(path: Path) -> str:
    """Return the form that the ending of a file names; UsageError for any other ending."""
    form = _ENDINGS.get(path.suffix)
    if form is None:
        raise UsageError(
            f"'--report' is '{path}', whose ending names no form",
            hint=f"use one of {', '.join(f'{end} ({form})' for end, form in _ENDINGS.items())}",
        )
    return form


def report_in(
    form: str, report: RunReport, history: History | None = None, *, with_pods: bool = False
) -> str:
    """Write a report in a form; a page of a report without its `history` reads that from the record again."""
    if form != HTML:
        return FORMS[form](report)
    found = _history(report, history)
    inside = pods_inside(pods_csv(found, report.since)) if with_pods else None
    note = _TOO_LARGE if with_pods and inside is None else ""
    return _page(run_page(report, found, [inside] if inside else [], note))


def write_report(
    report: RunReport, path: Path, history: History | None = None, *, with_pods: bool = False
) -> str:
    """Write a report into a file, in the form of its ending; return where its pods are, if not in it.

    The pods of a page stand in a CSV beside it, `NAME.pods.csv`, unless they are wanted inside and are small enough.
    """
    form = form_of(path)
    if form != HTML:
        write_atomic(path, report_in(form, report))
        return ""
    found = _history(report, history)
    pods = pods_csv(found, report.since)
    inside = pods_inside(pods) if with_pods else None
    if inside is not None:
        write_atomic(path, _page(run_page(report, found, [inside])))
        return ""
    beside = path.with_suffix(".pods.csv")
    where = f"every pod stands in {beside.name} beside this page"
    note = f"{_TOO_LARGE}: {where}" if with_pods else where
    write_atomic(beside, pods)
    write_atomic(path, _page(run_page(report, found, note=note)))
    return f"every pod stands in '{beside}'" + (f": {_TOO_LARGE}" if with_pods else "")


_TOO_LARGE = f"the pods take more than {MOST_INSIDE // 1_000_000} MB in a page"


def sheet_in(form: str, report: msgspec.Struct, sheet: Sheet) -> str:
    """Write a report on several runs in a form; `sheet` is what people read of it."""
    if form == HTML:
        return _page(_page_of(report, sheet))
    return json_of(report) if form == "json" else SHEET_FORMS[form](sheet)


def write_sheet(report: msgspec.Struct, sheet: Sheet, path: Path) -> None:
    """Write a report on several runs into a file, in the form of its ending."""
    write_atomic(path, sheet_in(form_of(path), report, sheet))


def _page_of(report: msgspec.Struct, sheet: Sheet) -> PageData:
    if isinstance(report, RunComparison):
        return compared_page(report, sheet)
    assert isinstance(report, RepeatedReport)
    return repeated_page(report, sheet)


def _page(page: PageData) -> str:
    return html(page, read_parts())


def _history(report: RunReport, history: History | None) -> History:
    return history_of(Path(report.record)) if history is None else history
