"""`measure start` and `measure stop`: a recording for an afternoon."""

import typer

from kwokctl.cli import dry_run
from kwokctl.cli.conclusion import Outcome, conclude
from kwokctl.cli.invocation import Invocation
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.shared_options import Output
from kwokctl.cli.verbs.measuring import options as given
from kwokctl.cli.verbs.measuring.reporting import ReportWords, record_path


def register(below: typer.Typer) -> None:
    """Add the commands to those of `measure`."""
    starts = (
        "kwokctl measure start",
        "kwokctl measure start --selector app=web --by label:team --record web.jsonl.gz",
    )
    commands.command(below, "start", examples=starts)(start)
    commands.command(below, "stop", examples=("kwokctl measure stop --report run.md",))(stop)


def start(
    call: Invocation,
    *,
    selector: given.Selector = "",
    namespace: given.Namespace = "",
    latencies: given.Latencies = None,
    phases: given.Phases = None,
    topology: given.Topology = None,
    gang_label: given.GangLabel = "",
    metrics: given.Metrics = None,
    profile_components: given.Profiles = False,
    by: given.By = None,
    record: given.RecordFile = "",
    kubeconfig: given.Kubeconfig = "",
    output: Output = "",
) -> None:
    """Record a cluster in the background until 'measure stop'; one recording for each --name."""
    from kwokctl.embedded.selection import requirements
    from kwokctl.host.paths import expanded
    from kwokctl.measure.running.background import LATENCY, METRIC, PHASE, TOPOLOGY
    from kwokctl.measure.running.background import start as start_recording
    from kwokctl.measure.sampling.metric import read_metrics_asked
    from kwokctl.measure.watching.kinds import Latency
    from kwokctl.measure.watching.phases import IncidentPhase

    requirements(selector)
    found = [Latency.read(each) for each in latencies or ()]
    ReportWords.check_keys(by)
    words = [f"{LATENCY}{each}" for each in found]
    words += [f"{PHASE}{IncidentPhase.read(each)}" for each in phases or ()]
    words += [f"{TOPOLOGY}{key}" for key in topology or ()]
    words += [f"{METRIC}{each}" for each in read_metrics_asked(metrics or [])]
    words += ["--profile-components"] if profile_components else []
    words += [f"--by={key}" for key in by or ()]
    words += [f"--gang-label={gang_label}"] if gang_label else []
    words += [f"--selector={selector}"] if selector else []
    words += [f"--namespace={namespace}"] if namespace else []
    words += [f"--kubeconfig={expanded(kubeconfig).absolute()}"] if kubeconfig else []
    path = record_path(call, record).absolute()
    if call.is_dry_run:
        dry_run.remark(call, f"Record in '{path}' in the background.", output)
        return
    call.run(start_recording, call.home, call.cluster, words, path)
    outcome = Outcome(
        message=f"recording in '{path}'",
        lead="End it, and see its report, with",
        then=(f"{call.itself} measure stop",),
        cluster="" if kubeconfig else call.name,
        result={"record": path},
    )
    conclude(call, outcome, output)


def stop(
    call: Invocation,
    *,
    since: given.Since = "due",
    by: given.By = None,
    asserted: given.Assert = None,
    assert_file: given.AssertFile = "",
    budget: given.Budget = "",
    allow_undrained: given.AllowUndrained = False,
    reports: given.Report = None,
    with_pods: given.WithPods = False,
    output: given.RunFormat = "summary",
) -> None:
    """End the recording that 'measure start' has begun, and report how fast the cluster was.

    Exits with 1 as 'measure run' does.
    """
    from kwokctl.measure.figures.figure_catalogue import figures_named, figures_of
    from kwokctl.measure.histories.history_files import history_of
    from kwokctl.measure.judging.assertions import AssertionReader
    from kwokctl.measure.running.background import LATENCY, METRIC, PHASE, TOPOLOGY, asked_of
    from kwokctl.measure.running.background import stop as stop_recording

    wanted = ReportWords(
        since=since, by=by, asserted=asserted, assert_file=assert_file, reports=reports, output=output,
        allow_undrained=allow_undrained, with_pods=with_pods, budget=budget,
    )  # fmt: skip
    named = (asked_of(call.home, call.cluster, each) for each in (LATENCY, TOPOLOGY, METRIC, PHASE))
    wanted.check(AssertionReader(figures_named(*named)))
    if call.is_dry_run:
        dry_run.remark(call, "End the recording, and report how fast things were.")
        return
    path = call.run(stop_recording, call.home, call.cluster)
    history = history_of(path)
    wanted.write(call, history, path, AssertionReader(figures_of(history.header)))
