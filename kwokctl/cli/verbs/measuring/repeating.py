"""The options of `measure run` for several runs, and how these are measured and reported."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
import typer

from kwokctl.cli.verbs.measuring.reporting import ReportWords, emit_sheet
from kwokctl.errors import UsageError

if TYPE_CHECKING:
    from kwokctl.cli.invocation import Invocation
    from kwokctl.measure.histories.history import History
    from kwokctl.measure.judging.assertions import AssertionReader
    from kwokctl.measure.repeating.repeat import Take
    from kwokctl.measure.reports.repeated import OneOfSeveral
    from kwokctl.measure.running.request import MeasureRequest


class RepeatWords(msgspec.Struct, frozen=True, kw_only=True):
    """The words of a command that say how runs are repeated."""

    repeat: int | None
    warm_up: int | None
    vary_seed: bool
    reset: str
    kubeconfig: str

    def check(self, *, has_end: bool, has_load: bool, with_pods: bool = False) -> None:
        """Raise UsageError for what makes no sense, before anything begins."""
        if not self.repeat:
            others = {
                "--warm-up": self.warm_up,
                "--vary-seed": self.vary_seed,
                "--reset": self.reset,
            }
            if lonely := next((name for name, value in others.items() if value), ""):
                raise UsageError(f"'{lonely}' needs '--repeat'", hint="such as: --repeat 5")
            return
        if not has_end:
            raise UsageError(
                "'--repeat' needs runs that end by themselves",
                hint="give a command, '--load' or '--until'",
            )
        if with_pods:
            raise UsageError(
                "'--with-pods' is for the page of one run, not of several",
                hint="make the page of one of the records: kwokctl measure FILE --with-pods --report run.html",
            )
        if self.vary_seed and not has_load:
            raise UsageError("'--vary-seed' needs '--load': only loads draw at random")
        if self.kubeconfig and not self.reset:
            raise UsageError(
                "'--repeat' cannot rewind a cluster that is named by '--kubeconfig'",
                hint="give the command that brings it back: --reset 'kubectl delete deployment --all --wait'",
            )

    def foreseen(self) -> str:
        """Say how often it would be done."""
        if not self.repeat:
            return ""
        warm_up = f" after {self.warm_up} that do not count" if self.warm_up else ""
        way = f"'{self.reset}'" if self.reset else "a rewind to the present state"
        return f" Do so {self.repeat} times{warm_up}, each after {way}."

    def run(
        self,
        call: "Invocation",
        request: "MeasureRequest",
        wanted: ReportWords,
        reader: "AssertionReader",
    ) -> None:
        """Measure the runs and report on them; typer.Exit with 1 if something is wrong with them."""
        from kwokctl.measure.reports.repeated import one_of_several, repeated_report
        from kwokctl.measure.reports.repeated_sheet import sheet_of

        outcomes: list[OneOfSeveral] = []

        def take(done: "MeasureRequest", history: "History") -> None:
            outcomes.append(one_of_several(history, wanted.request(done.record, reader)))

        remarks = self.measured(call, [request], take)
        assertions = wanted.request(request.record, reader).assertions
        runs = self.repeat or 0
        report = repeated_report(outcomes, assertions, wanted=runs, remarks=remarks)
        summary = sheet_of(report, is_summary=True)
        emit_sheet(report, sheet_of(report), wanted.reports, wanted.output, summary)
        if not report.passed:
            raise typer.Exit(1)

    def measured(
        self, call: "Invocation", requests: Sequence["MeasureRequest"], take: "Take"
    ) -> list[str]:
        """Measure the runs of each request; return in what their beginnings may have differed."""
        from kwokctl.host.paths import expanded
        from kwokctl.measure.repeating.repeat import repeat_any, repeat_own
        from kwokctl.measure.repeating.schedule import Repetition, scheduled

        repetition = Repetition(
            runs=self.repeat or 0, warm_ups=self.warm_up or 0, varies_seed=self.vary_seed
        )
        runs = scheduled(requests, repetition)
        if self.kubeconfig:
            file = expanded(self.kubeconfig)
            return call.run(repeat_any, file, runs, self.reset, take, call.progress)
        return call.run(repeat_own, call.home, call.cluster, runs, self.reset, take)
