"""A run that is over: its report, and what is asserted of it afterwards."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import msgspec

from kwokctl.errors import NotFoundError
from kwokctl.library.measuring.measure_words import MeasurePlan
from kwokctl.library.measuring.notebook import notebook_html
from kwokctl.measure.figures.figure import RunView
from kwokctl.measure.figures.figure_catalogue import figures_in, whole_run
from kwokctl.measure.histories.history import History
from kwokctl.measure.judging.assertions import Assertion, AssertionReader, Judgement, judge
from kwokctl.measure.judging.verdict import MeasuredVerdict, verdict
from kwokctl.measure.pages.join import read_parts
from kwokctl.measure.reports import judged
from kwokctl.measure.reports.forms import write_report
from kwokctl.measure.reports.report import RunReport, report_on
from kwokctl.measure.reports.run_page import run_page
from kwokctl.measure.reports.text import text_of

__tracebackhide__ = True
"""pytest shows the line of the test that has called, and none of these."""
_PLACE = "'expect'"


class FinishedRun:
    """A record and the report on it, which is computed once."""

    def __init__(self, history: History, plan: MeasurePlan) -> None:
        self._history, self._plan = history, plan
        self._added: list[Assertion] = []

    @cached_property
    def _first_report(self) -> RunReport:
        return report_on(self._history, self._plan.report_request(self._plan.assertions))

    @cached_property
    def _view(self) -> RunView:
        return whole_run(self._history, self._plan.since)

    @cached_property
    def _reader(self) -> AssertionReader:
        return AssertionReader(figures_in(self._history))

    @property
    def report(self) -> RunReport:
        """The report, also with what was asserted since."""
        report = self._first_report
        if not self._added:
            return report
        judgements = [*report.assertions, *judge(self._added, self._view)]
        again = self._verdict(judgements)
        return msgspec.structs.replace(report, assertions=tuple(judgements), verdict=again)

    def _verdict(self, judgements: list[Judgement]) -> MeasuredVerdict:
        return verdict(self._history, judgements, allow_undrained=self._plan.allow_undrained)

    @property
    def text(self) -> str:
        """The report as text."""
        return text_of(self.report)

    @property
    def headline(self) -> str:
        """The verdict in one line: `PASSED: the cluster 'kwok', 2026-11-28 05:28:08 UTC, 86.2 s`."""
        report = self.report
        return f"{judged.headline(report)}: {judged.subject(report)}"

    def number(self, text: str) -> float:
        """Return a number by its name; NotFoundError if it was not measured."""
        found = self._reader.number(text, "'number'").of(self._view)
        if isinstance(found, str):
            raise NotFoundError(f"'{text}' was not measured: {found}")
        return found

    def expect(self, texts: Sequence[str]) -> None:
        """Raise AssertionError unless these assertions hold, or those of the run without any, and nothing else is wrong."""
        asked = [self._reader.read(text, _PLACE) for text in texts]
        self._added += asked
        judgements = judge(asked, self._view) if asked else [*self.report.assertions]
        found = self._verdict(judgements)
        if found.passed:
            return
        report = msgspec.structs.replace(self.report, verdict=found)
        lines = [f"{judged.headline(report)}: {judged.subject(report)}", *found.problems]
        lines += map(judged.assertion_text, judgements)
        raise AssertionError("\n  ".join([*lines, f"record: {report.record}"]))

    def write(self, path: Path, *, with_pods: bool) -> str:
        """Write the report in the form of the file's ending, and return where the pods of a page are, if not in it.

        `with_pods` embeds every pod in a page, if they are small enough.
        """
        return write_report(self.report, path, self._history, with_pods=with_pods)

    @property
    def notebook(self) -> str:
        """The report as HTML for notebooks."""
        return notebook_html(run_page(self.report, self._history), read_parts())
