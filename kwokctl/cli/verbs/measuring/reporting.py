"""The options for reports: checked before the measurement begins, used after it."""

from pathlib import Path
from typing import TYPE_CHECKING, cast

import msgspec
import typer

from kwokctl.cli.output import results
from kwokctl.errors import UsageError

if TYPE_CHECKING:
    from kwokctl.cli.invocation import Invocation
    from kwokctl.measure.figures.figure import Since
    from kwokctl.measure.histories.history import History
    from kwokctl.measure.judging.assertions import Assertion, AssertionReader
    from kwokctl.measure.reports.report import ReportRequest
    from kwokctl.measure.reports.sheets import Sheet


class ReportWords(msgspec.Struct, frozen=True, kw_only=True):
    """The words of a command that say what its report is to be."""

    since: str
    by: list[str] | None
    asserted: list[str] | None
    assert_file: str
    reports: list[str] | None
    output: str
    allow_undrained: bool
    with_pods: bool = False
    budget: str = ""
    """The most nodes that may be unavailable at a time; empty without a limit."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that groups of pods have in common."""
        from kwokctl.measure.grouping.pod_groups import labels_of

        return labels_of(self.by or ())

    def check(self, reader: "AssertionReader") -> None:
        """Raise UsageError or ConfigError for what cannot be understood."""
        from kwokctl.measure.reports.forms import HTML, form_of

        self.check_keys(self.by)
        forms = [self.output, *(form_of(Path(file)) for file in self.reports or ())]
        if self.with_pods and HTML not in forms:
            raise UsageError(
                "'--with-pods' needs a page that holds the pods",
                hint="add '--report run.html', or use '-o html'",
            )
        self._assertions(reader)

    @staticmethod
    def check_keys(keys: list[str] | None) -> None:
        """Raise UsageError for a key of groups that does not exist."""
        from kwokctl.measure.grouping.pod_groups import check_keys

        check_keys(keys or ())

    def write(
        self, call: "Invocation", history: "History", record: Path, reader: "AssertionReader"
    ) -> None:
        """Write the report in all its forms; typer.Exit with 1 if something is wrong with the run."""
        from kwokctl.host.paths import expanded
        from kwokctl.measure.reports.forms import TEXT, report_in, write_report
        from kwokctl.measure.reports.report import report_on

        found = report_on(history, self.request(record, reader))
        for file in self.reports or ():
            where = write_report(found, expanded(file), history, with_pods=self.with_pods)
            if where:
                call.progress.note(where)
        form = self.output or TEXT
        results.emit(report_in(form, found, history, with_pods=self.with_pods))
        if not found.verdict.passed:
            raise typer.Exit(1)

    def request(self, record: Path, reader: "AssertionReader") -> "ReportRequest":
        """Return the request of the report on one run."""
        from kwokctl.measure.reports.report import ReportRequest
        from kwokctl.measure.scoring.score_words import NodeBudget, ScoreWords

        return ReportRequest(
            record=str(record),
            since=cast("Since", self.since),
            by=tuple(self.by or ()),
            assertions=tuple(self._assertions(reader)),
            allow_undrained=self.allow_undrained,
            score=ScoreWords(budget=NodeBudget.read(self.budget) if self.budget else None),
        )

    def _assertions(self, reader: "AssertionReader") -> "list[Assertion]":
        from kwokctl.host.paths import expanded
        from kwokctl.measure.judging.assertion_file import read_assertions

        found = [reader.read(text) for text in self.asserted or ()]
        if self.assert_file:
            found += read_assertions(expanded(self.assert_file), reader)
        return found


def record_path(call: "Invocation", given: str) -> Path:
    """Return where the record is written: where the user says, else under a new name in the work folder."""
    from kwokctl.host.paths import expanded
    from kwokctl.measure.record.record_names import new_record

    return expanded(given) if given else new_record(call.home.workdir.measurements, call.name)


def emit_sheet(
    report: msgspec.Struct,
    sheet: "Sheet",
    reports: list[str] | None,
    output: str,
    summary: "Sheet | None" = None,
) -> None:
    """Write a report on several runs in all its forms, of which one may be a summary."""
    from kwokctl.host.paths import expanded
    from kwokctl.measure.reports.forms import SUMMARY, TEXT, sheet_in, write_sheet

    for file in reports or ():
        write_sheet(report, sheet, expanded(file))
    shown = summary if summary and output == SUMMARY else sheet
    results.emit(sheet_in(output or TEXT, report, shown))
