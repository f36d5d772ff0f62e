"""The options for reports: checked before the measurement begins, used after it."""

from pathlib import Path
from typing import TYPE_CHECKING, cast

import msgspec
import typer

from kwokctl.cli.output import results
from kwokctl.errors import UsageError

if TYPE_CHECKING:
    from kwokctl.cli.invocation import Invocation
    from kwokctl.measure.assertions import Assertion, AssertionReader
    from kwokctl.measure.figures.figure import Since
    from kwokctl.measure.history import History
    from kwokctl.measure.reports.report import ReportRequest
    from kwokctl.measure.reports.sheets import Sheet

_LABEL = "label:"


class ReportWords(msgspec.Struct, frozen=True, kw_only=True):
    """The words of a command that say what its report is to be."""

    since: str
    by: list[str] | None
    asserted: list[str] | None
    assert_file: str
    reports: list[str] | None
    output: str
    allow_undrained: bool

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that groups of pods have in common."""
        return tuple(key.removeprefix(_LABEL) for key in self.by or () if key.startswith(_LABEL))

    def check(self, reader: "AssertionReader") -> None:
        """Raise UsageError or ConfigError for what cannot be understood."""
        from kwokctl.measure.reports.forms import form_of

        self.check_keys(self.by)
        for file in self.reports or ():
            form_of(Path(file))
        self._assertions(reader)

    @staticmethod
    def check_keys(keys: list[str] | None) -> None:
        """Raise UsageError for a key of groups that does not exist."""
        from kwokctl.measure.groups import GROUPS

        for key in keys or ():
            if key not in GROUPS and not key.removeprefix(_LABEL) != key != _LABEL:
                raise UsageError(
                    f"'--by' is '{key}'", hint=f"choose from: {', '.join(GROUPS)}, label:NAME"
                )

    def write(self, history: "History", record: Path, reader: "AssertionReader") -> None:
        """Write the report in all its forms; typer.Exit with 1 if something is wrong with the run."""
        from kwokctl.host.paths import expanded
        from kwokctl.measure.reports.forms import FORMS, TEXT, write_report
        from kwokctl.measure.reports.report import report_on

        found = report_on(history, self.request(record, reader))
        for file in self.reports or ():
            write_report(found, expanded(file))
        results.emit(FORMS[self.output or TEXT](found))
        if not found.verdict.passed:
            raise typer.Exit(1)

    def request(self, record: Path, reader: "AssertionReader") -> "ReportRequest":
        """Return the request of the report on one run."""
        from kwokctl.measure.reports.report import ReportRequest

        return ReportRequest(
            record=str(record),
            since=cast("Since", self.since),
            by=tuple(self.by or ()),
            assertions=tuple(self._assertions(reader)),
            allow_undrained=self.allow_undrained,
        )

    def _assertions(self, reader: "AssertionReader") -> "list[Assertion]":
        from kwokctl.host.paths import expanded
        from kwokctl.measure.assertion_file import read_assertions

        found = [reader.read(text) for text in self.asserted or ()]
        if self.assert_file:
            found += read_assertions(expanded(self.assert_file), reader)
        return found


def record_path(call: "Invocation", given: str) -> Path:
    """Return where the record is written: where the user says, else under a new name in the work folder."""
    from datetime import datetime

    from kwokctl.host.paths import expanded

    if given:
        return expanded(given)
    moment = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
    return call.home.workdir.measurements / f"{call.name}-{moment}.jsonl.gz"


def emit_sheet(
    report: msgspec.Struct, sheet: "Sheet", reports: list[str] | None, output: str
) -> None:
    """Write a report on several runs in all its forms."""
    from kwokctl.host.paths import expanded
    from kwokctl.measure.reports.forms import TEXT, sheet_in, write_sheet

    for file in reports or ():
        write_sheet(report, sheet, expanded(file))
    results.emit(sheet_in(output or TEXT, report, sheet))
