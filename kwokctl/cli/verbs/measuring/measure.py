"""`measure`: records a cluster while something happens in it, and says how fast it was."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from kwokctl.cli import dry_run, hook_consent
from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output import results
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.grammar import usual_group
from kwokctl.cli.parsing.shared_options import AllowHooks, LoadSeed, LoadSpeed
from kwokctl.cli.verbs.measuring import background, compare
from kwokctl.cli.verbs.measuring import options as given
from kwokctl.cli.verbs.measuring.repeating import RepeatWords
from kwokctl.cli.verbs.measuring.reporting import ReportWords, record_path

if TYPE_CHECKING:
    from kwokctl.measure.histories.history import History
    from kwokctl.measure.running.request import MeasureRequest

_TEXT = """\
Measure how fast pods and Jobs are scheduled, run and end.

'measure -- COMMAND' is 'measure run -- COMMAND', and 'measure FILE' is 'measure report FILE'.
"""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    cls = usual_group("run", "report")
    below = commands.group(app, "measure", _TEXT, panel=commands.CLUSTERS, cls=cls)
    runs = (
        "kwokctl measure -- kubectl create deployment web --image=x --replicas=5000",
        "kwokctl measure --assert 'pods.created_to_bound.p99 < 5s' --report junit.xml -- ./load.sh",
        "kwokctl measure --load training.yaml --by load --report training.md",
        "kwokctl measure --metric 'workqueue_depth{name=\"job\"} max' --load training.yaml",
        "kwokctl measure --until 'pods.running >= 500' --selector app=web --record web.jsonl.gz",
        "kwokctl measure --repeat 5 --warm-up 1 --load training.yaml --record before.jsonl.gz",
    )
    reports = (
        "kwokctl measure web.jsonl.gz",
        "kwokctl measure web.jsonl.gz --by owner --report web.md",
    )
    commands.command(below, "run", examples=runs)(run)
    commands.command(below, "report", examples=reports)(report)
    compare.register(below)
    background.register(below)
    commands.command(below, "fields", examples=("kwokctl measure fields",))(fields)


def run(
    call: Invocation,
    *,
    load: given.Loads = None,
    seed: LoadSeed = 0,
    speed: LoadSpeed = 1.0,
    allow_hooks: AllowHooks = False,
    until: given.Until = "",
    timeout: given.Timeout = None,
    selector: given.Selector = "",
    namespace: given.Namespace = "",
    latencies: given.Latencies = None,
    phases: given.Phases = None,
    topology: given.Topology = None,
    gang_label: given.GangLabel = "",
    metrics: given.Metrics = None,
    profile_components: given.Profiles = False,
    record: given.RecordFile = "",
    full: given.Full = False,
    repeat: given.Repeat = None,
    warm_up: given.WarmUp = None,
    vary_seed: given.VarySeed = False,
    reset: given.Reset = "",
    since: given.Since = "due",
    by: given.By = None,
    asserted: given.Assert = None,
    assert_file: given.AssertFile = "",
    budget: given.Budget = "",
    allow_undrained: given.AllowUndrained = False,
    reports: given.Report = None,
    with_pods: given.WithPods = False,
    kubeconfig: given.Kubeconfig = "",
    output: given.RunFormat = "summary",
    command: given.Command = None,
) -> None:
    """Record a cluster while loads or a command run, until its objects stop changing, and report how fast it was.

    Exits with 1 if an assertion failed, if something of the run did not come to its end, or if the figures
    cannot be relied on. Ctrl-C ends the recording; the report is written then, too. The summary on the terminal ends with the
    command that shows all figures. Of several runs ('--repeat') the
    report has the median and the range of each figure, and assertions are on the median.
    """
    from kwokctl.host.paths import expanded
    from kwokctl.measure.figures.figure_catalogue import figures_named
    from kwokctl.measure.judging.assertions import AssertionReader
    from kwokctl.measure.running.run_words import RunWords
    from kwokctl.measure.sampling.metric import read_metrics_asked
    from kwokctl.measure.watching.kinds import Latency
    from kwokctl.measure.watching.phases import IncidentPhase

    asked = tuple(map(Latency.read, latencies or ()))
    asked_metrics = read_metrics_asked(metrics or [])
    asked_phases = tuple(map(IncidentPhase.read, phases or ()))
    named = (map(str, asked), topology or (), map(str, asked_metrics), map(str, asked_phases))
    known = figures_named(*named)
    reader = AssertionReader(known)
    wanted = ReportWords(
        since=since, by=by, asserted=asserted, assert_file=assert_file, reports=reports, output=output,
        allow_undrained=allow_undrained, with_pods=with_pods, budget=budget,
    )  # fmt: skip
    wanted.check(reader)
    several = RepeatWords(
        repeat=repeat, warm_up=warm_up, vary_seed=vary_seed, reset=reset, kubeconfig=kubeconfig
    )
    several.check(has_end=bool(load or command or until), has_load=bool(load), with_pods=with_pods)
    words = RunWords(
        load=load or (), seed=seed, speed=speed, until=until, timeout=timeout, selector=selector,
        namespace=namespace, record=record_path(call, record), full=full, latencies=asked, labels=wanted.labels,
        phases=asked_phases, topology=tuple(topology or ()), gang_label=gang_label,
        metrics=asked_metrics, profiles=profile_components, command=tuple(command or ()),
    )  # fmt: skip
    request = words.request(call.home, reader)
    file = expanded(kubeconfig) if kubeconfig else None
    if call.is_dry_run:
        dry_run.remark(call, f"{_foreseen(call, file, request)}{several.foreseen()}")
        return
    hook_consent.demand(call, request.loads, is_given=allow_hooks)
    if several.repeat:
        several.run(call, request, wanted, reader)
        return
    wanted.write(call, _measured(call, file, request), request.record, reader)


def _measured(call: Invocation, kubeconfig: Path | None, request: "MeasureRequest") -> "History":
    from kwokctl.measure.running.run import measure_any, measure_own

    if kubeconfig is None:
        return call.run(measure_own, call.home, call.cluster, request)
    return call.run(measure_any, kubeconfig, request, call.progress)


def report(
    call: Invocation,
    file: given.Record,
    *,
    since: given.Since = "due",
    by: given.By = None,
    asserted: given.Assert = None,
    assert_file: given.AssertFile = "",
    budget: given.Budget = "",
    allow_undrained: given.AllowUndrained = False,
    reports: given.Report = None,
    with_pods: given.WithPods = False,
    output: given.Format = "text",
) -> None:
    """Compute the figures of a record again, for example with other groups or assertions.

    A recording of 'snapshot record' gives the same figures, but for those of loads and of the API server. Exits with 1 as 'measure run' does.
    """
    from kwokctl.host.paths import expanded
    from kwokctl.measure.figures.figure_catalogue import figures_of
    from kwokctl.measure.histories.history_files import history_of
    from kwokctl.measure.judging.assertions import AssertionReader

    path = expanded(file)
    wanted = ReportWords(
        since=since, by=by, asserted=asserted, assert_file=assert_file, reports=reports, output=output,
        allow_undrained=allow_undrained, with_pods=with_pods, budget=budget,
    )  # fmt: skip
    history = history_of(path, wanted.labels)
    reader = AssertionReader(figures_of(history.header))
    wanted.check(reader)
    wanted.write(call, history, path, reader)


def fields(_call: Invocation) -> None:
    """List the figures that assertions and '--until' can name, with the statistics of each."""
    from kwokctl.measure.figures.figure_catalogue import FIGURES, NAMED_BY_NODES, STATISTICS

    rows = [
        (
            figure.name,
            figure.unit,
            figure.direction,
            ",".join(STATISTICS[figure.form]),
            figure.title,
        )
        for figure in (*FIGURES, *NAMED_BY_NODES)
    ]
    results.emit_table(("FIGURE", "UNIT", "BETTER", "WITH", "MEANING"), rows)


def _foreseen(call: Invocation, kubeconfig: Path | None, request: "MeasureRequest") -> str:
    import shlex

    cluster = f"the cluster of '{kubeconfig}'" if kubeconfig else f"the cluster '{call.name}'"
    parts = [f"the load '{load.name}'" for load in request.loads]
    parts += [f"'{shlex.join(request.command)}'"] if request.command else []
    what = f"while {' and '.join(parts)} run" if parts else "until Ctrl-C"
    return f"Record {cluster} in '{request.record}' {what}, and report how fast it was."
