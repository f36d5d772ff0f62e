"""The forms of a report, by their names and by the endings of files."""

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from kwokctl.errors import UsageError
from kwokctl.host.files import write_atomic
from kwokctl.measure.reports.csv_rows import csv_of
from kwokctl.measure.reports.junit import junit_of
from kwokctl.measure.reports.markdown import markdown_of
from kwokctl.measure.reports.report import RunReport
from kwokctl.measure.reports.sheets import SHEET_FORMS, Sheet
from kwokctl.measure.reports.text import text_of


def json_of(report: msgspec.Struct) -> str:
    """Write a report as JSON; schemas in docs/reference describe those of each kind."""
    return msgspec.json.format(msgspec.json.encode(report), indent=2).decode() + "\n"


TEXT = "text"
FORMS: Mapping[str, Callable[[RunReport], str]] = {
    TEXT: text_of,
    "markdown": markdown_of,
    "json": json_of,
    "csv": csv_of,
    "junit": junit_of,
}
_ENDINGS = {".txt": TEXT, ".md": "markdown", ".json": "json", ".csv": "csv", ".xml": "junit"}


def form_of(path: Path) -> str:
    """Return the form that the ending of a file names; UsageError for any other ending."""
    form = _ENDINGS.get(path.suffix)
    if form is None:
        raise UsageError(
            f"'--report' is '{path}', whose ending names no form",
            hint=f"use one of {', '.join(f'{end} ({form})' for end, form in _ENDINGS.items())}",
        )
    return form


def write_report(report: RunReport, path: Path) -> None:
    """Write a report into a file, in the form of its ending."""
    write_atomic(path, FORMS[form_of(path)](report))


def sheet_in(form: str, report: msgspec.Struct, sheet: Sheet) -> str:
    """Write a report on several runs in a form; `sheet` is what people read of it."""
    return json_of(report) if form == "json" else SHEET_FORMS[form](sheet)


def write_sheet(report: msgspec.Struct, sheet: Sheet, path: Path) -> None:
    """Write a report on several runs into a file, in the form of its ending."""
    write_atomic(path, sheet_in(form_of(path), report, sheet))
