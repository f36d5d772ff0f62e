"""`measure compare`: is B better than A, worse, or can these runs not tell?"""

from pathlib import Path
from typing import TYPE_CHECKING, cast

import msgspec
import typer

from kwokctl.cli import dry_run, hook_consent
from kwokctl.cli.invocation import Invocation
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.shared_options import AllowHooks, LoadSeed, LoadSpeed
from kwokctl.cli.verbs.measuring import options as given
from kwokctl.cli.verbs.measuring.repeating import RepeatWords
from kwokctl.cli.verbs.measuring.reporting import emit_sheet, record_path
from kwokctl.errors import UsageError
from kwokctl.replacing import replace

if TYPE_CHECKING:
    from kwokctl.measure.figures.figure import Since
    from kwokctl.measure.running.run_words import RunWords

_SIDES = ("a", "b")
_USUAL_RUNS = 5


def register(below: typer.Typer) -> None:
    """Add the command to those of `measure`."""
    examples = (
        "kwokctl measure compare before.jsonl.gz after.jsonl.gz",
        "kwokctl measure compare main/ branch/ --max-worse 5% --report compared.md --report junit.xml",
        "kwokctl measure compare --run-a 'kubectl create -f default.yaml' --run-b 'kubectl create -f mine.yaml' --repeat 7",
    )
    commands.command(below, "compare", examples=examples)(compare)


def compare(
    call: Invocation,
    sides: given.Sides = None,
    *,
    figures: given.Figures = None,
    max_worse: given.MaxWorse = None,
    across: given.Across = None,
    run_a: given.RunA = "",
    run_b: given.RunB = "",
    repeat: given.Repeat = None,
    warm_up: given.WarmUp = None,
    vary_seed: given.VarySeed = False,
    reset: given.Reset = "",
    load: given.Loads = None,
    seed: LoadSeed = 0,
    speed: LoadSpeed = 1.0,
    allow_hooks: AllowHooks = False,
    until: given.Until = "",
    timeout: given.Timeout = None,
    selector: given.Selector = "",
    namespace: given.Namespace = "",
    record: given.RecordFile = "",
    kubeconfig: given.Kubeconfig = "",
    since: given.Since = "due",
    allow_undrained: given.AllowUndrained = False,
    reports: given.Report = None,
    output: given.Format = "text",
) -> None:
    """Compare the runs of B with those of A: each figure is better, worse, or shows no difference.

    The ratio is given with an interval that contains the true one in 95 % of comparisons. With '--max-worse' the
    command exits with 1 if a figure of B is worse by more than that, or cannot be compared. With '--run-a' and
    '--run-b' the runs are measured first; they alternate.
    """
    from kwokctl.measure.comparing.comparison import USUAL_FIGURES, CompareRequest, compared
    from kwokctl.measure.comparing.sample import SampleRequest, read_sample, records_of
    from kwokctl.measure.reports.compared_sheet import sheet_of
    from kwokctl.measure.reports.forms import form_of
    from kwokctl.measure.running.run_words import RunWords

    for file in reports or ():
        form_of(Path(file))
    wanted = SampleRequest(
        figures=tuple(dict.fromkeys(figures or USUAL_FIGURES)),
        since=cast("Since", since),
        allow_undrained=allow_undrained,
    )
    runs = SidesToMeasure(
        commands=(run_a, run_b),
        words=RepeatWords(
            repeat=repeat, warm_up=warm_up, vary_seed=vary_seed, reset=reset, kubeconfig=kubeconfig
        ),
    )
    runs.check(sides or [], has_load=bool(load))
    if runs.is_wanted:
        check_figures(wanted.figures)
        if call.is_dry_run:
            dry_run.remark(call, runs.foreseen())
            return
        words = RunWords(
            load=load or (), seed=seed, speed=speed, until=until, timeout=timeout, selector=selector,
            namespace=namespace, record=record_path(call, record),
        )  # fmt: skip
        found = runs.measured(call, words, allow_hooks=allow_hooks)
    else:
        found = [(name, records_of(name)) for name in sides or ()]
    a, b = (read_sample(name, records, wanted) for name, records in found)
    comparison = compared(a, b, CompareRequest(
        max_worse=max_worse, across=tuple(across or ()), omits_missing=not figures,
    ))  # fmt: skip
    emit_sheet(comparison, sheet_of(comparison), reports, output)
    if not comparison.passed:
        raise typer.Exit(1)


def check_figures(names: tuple[str, ...]) -> None:
    """Raise UsageError for a figure that cannot be compared, before anything is measured."""
    from kwokctl.measure.comparing.comparison import check_direction
    from kwokctl.measure.figures.figure_catalogue import FIGURES
    from kwokctl.measure.judging.assertions import AssertionReader

    reader = AssertionReader(FIGURES)
    for name in names:
        check_direction(reader.number(name))


class SidesToMeasure(msgspec.Struct, frozen=True, kw_only=True):
    """Two commands that are measured in turn."""

    commands: tuple[str, str]
    words: RepeatWords

    @property
    def is_wanted(self) -> bool:
        """Whether there are commands to measure."""
        return any(self.commands)

    def check(self, sides: list[str], *, has_load: bool) -> None:
        """Raise UsageError unless there are either two sets of records, or two commands."""
        if not self.is_wanted:
            if len(sides) != len(_SIDES):
                raise UsageError(
                    f"'kwokctl measure compare' needs A and B, and {len(sides)} were given",
                    hint="give the records of A and B, or two commands: --run-a COMMAND --run-b COMMAND",
                )
            self.words.check(has_end=True, has_load=has_load)
            return
        if sides or not all(self.commands):
            raise UsageError(
                "'--run-a' and '--run-b' go together, without records",
                hint="measure both sides, or name records of both",
            )
        self._repeated.check(has_end=True, has_load=has_load)

    def measured(
        self, call: Invocation, words: "RunWords", *, allow_hooks: bool
    ) -> list[tuple[str, list[Path]]]:
        """Measure the runs of both sides, and return the commands with their records."""
        from kwokctl.measure.figures.figure_catalogue import FIGURES
        from kwokctl.measure.judging.assertions import AssertionReader
        from kwokctl.measure.record.record_names import record_of_side, runs_of

        request = words.request(call.home, AssertionReader(FIGURES))
        hook_consent.demand(call, request.loads, is_given=allow_hooks)
        bases = [record_of_side(request.record, side) for side in _SIDES]
        requests = [
            replace(request, record=base, command=("sh", "-c", command))
            for base, command in zip(bases, self.commands, strict=True)
        ]
        for remark in self._repeated.measured(call, requests, lambda _, __: None):
            call.progress.note(remark)
        return [(word, runs_of(base)) for word, base in zip(self.commands, bases, strict=True)]

    def foreseen(self) -> str:
        """Say what would be measured."""
        a, b = self.commands
        return f"Measure '{a}' and '{b}' in turn, and compare them.{self._repeated.foreseen()}"

    @property
    def _repeated(self) -> RepeatWords:
        return replace(self.words, repeat=self.words.repeat or _USUAL_RUNS)
