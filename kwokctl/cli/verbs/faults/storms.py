"""`fault plan`, `fault run`, `fault stop`: a schedule of faults, before anything happens, and as it is played."""

import time
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from kwokctl.cli import dry_run
from kwokctl.cli.conclusion import Outcome, conclude
from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output import results
from kwokctl.cli.output.progress_rows import amount
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.option_values import checked
from kwokctl.cli.parsing.shared_options import Output, format_option, wait_option
from kwokctl.cli.verbs.faults.options import fault_name
from kwokctl.config import checks
from kwokctl.expr.duration import format_duration, format_seconds

if TYPE_CHECKING:
    from kwokctl.clusters.faults.run_storm import RunRequest
    from kwokctl.clusters.faults.schedule_reports import ScheduleReport
    from kwokctl.clusters.faults.storm_plans import PlannedStorm
    from kwokctl.faults.storms.storm_plan import PlannedFault

_PLANNING = (
    "kwokctl fault plan -f storm.yaml",
    "kwokctl fault plan -f storm.yaml -o json >plan.json",
)
_RUNNING = (
    "kwokctl fault run -f storm.yaml",
    "kwokctl fault run -f storm.yaml --id night-2 --wait",
)
_OVER = ("Completed", "Stopped")
_STOPPING = ("kwokctl fault stop night",)
_FORMATS = ("table", "wide", "json", "yaml")
_COLUMNS = ("AT", "CLASS", "UNIT", "FOR", "PROCESS")
_MILLI = 1_000_000


_File = Annotated[
    str,
    typer.Option(
        "--filename",
        "-f",
        metavar="FILE",
        help="File with a document of kind FaultSchedule, '-' for standard input",
        parser=checked("--filename", lambda word: None if word == "-" else checks.file(word)),
    ),
]


def register(below: typer.Typer) -> None:
    """Add the command."""
    commands.command(below, "plan", examples=_PLANNING)(plan)
    commands.command(below, "run", examples=_RUNNING)(run)
    commands.command(below, "stop", examples=_STOPPING)(stop)


def plan(
    call: Invocation,
    *,
    file: _File,
    output: Annotated[str, format_option(*_FORMATS, usual="table")] = "",
) -> None:
    """Print every fault that a schedule will inject, with its unit and time.

    Equal seeds on equal fleets give equal plans, whatever reacts. wide adds nodes, seeds and parameters; json and yaml give {horizon, nodes,
    lemons, empty, faults: [{at, process, class, unit, level, nodes, gpu, for, seed, parameters, gang, racks, lemon}]}, with times in seconds.
    """
    from kwokctl.clusters.faults.storm_plans import plan_storm
    from kwokctl.config.config_documents import load_documents
    from kwokctl.faults.storms.schedule_reader import schedule_of

    quiet = call.quietly()
    documents = load_documents([file], progress=quiet.progress)
    of_user = [*quiet.documents(), *documents]
    found = quiet.run(plan_storm, quiet.home, quiet.cluster, schedule_of(documents, file), of_user)
    if output in ("json", "yaml"):
        results.emit_data(_data(found), output)
        return
    headings = [*_COLUMNS, *(("NODES", "SEED", "PARAMETERS") if output == "wide" else ())]
    rows = [_row(each, is_wide=output == "wide") for each in found.plan.faults]
    results.emit_table(headings, rows)
    for line in _summary(found):
        call.console.line(line)


def run(
    call: Invocation,
    *,
    file: _File,
    schedule: Annotated[
        str,
        typer.Option(
            "--id",
            metavar="SCHEDULE",
            help="Name of the FaultSchedule [default: that of the document]",
            parser=checked("--id", fault_name),
        ),
    ] = "",
    wait: Annotated[
        float | None,
        wait_option("its horizon is over", "{} after the horizon"),
    ] = None,
    output: Output = "",
) -> None:
    """Play a schedule: store its plan in the cluster, where the controller makes each Fault at its time.

    It goes on when this command has ended, and after a restart of the controller or of the cluster. What cannot come at its time, since a limit holds or the
    unit is broken, gone or in repair, is suppressed with its reason, and never shifted or drawn anew.
    """
    from kwokctl.clusters.faults.run_storm import RunRequest, run_storm
    from kwokctl.config.config_documents import load_documents
    from kwokctl.faults.storms.schedule_reader import schedule_of

    documents = load_documents([file], progress=call.progress)
    of_user = (*call.documents(), *documents)
    document = schedule_of(documents, file)
    request = RunRequest(document=document, documents=of_user, name=schedule, wait=wait or None)
    if call.is_dry_run:
        _foresee(call, request, output)
        return
    wall = time.time  # noqa: TID251 - the clock itself: it is passed on from here
    made = call.run(run_storm, call.home, call.cluster, request, wall)
    stops = () if made.phase in _OVER else (f"{call.itself} fault stop {made.name}",)
    outcome = Outcome(
        message=_in_words(made),
        lead="Now you can",
        then=(
            f"{call.itself} fault status --schedules",
            f"{call.itself} fault log -f",
            *stops,
            f"{call.itself} fault clear --schedule {made.name}",
        ),
        cluster=call.name,
        result=made,
    )
    conclude(call, outcome, output)


def _foresee(call: Invocation, request: "RunRequest", output: str) -> None:
    from kwokctl.clusters.faults.run_storm import notices
    from kwokctl.clusters.faults.storm_plans import plan_storm
    from kwokctl.script.steps import Comment

    found = call.run(plan_storm, call.home, call.cluster, request.document, request.documents)
    name = request.name or request.document.name
    first = (
        f"Make a FaultSchedule '{name}', whose faults come by this plan; 'fault plan' prints each."
    )
    lines = [first, *_summary(found), *notices(found)]
    dry_run.show(call, map(Comment, dict.fromkeys(lines)), output)


def _in_words(made: "ScheduleReport") -> str:
    planned = amount(made.planned, "faults")
    if made.phase not in _OVER:
        return f"schedule '{made.name}' runs: {planned} on {amount(made.nodes, 'nodes')}"
    reasons = ", ".join(f"{number:,} {name}" for name, number in made.suppressed_by.items())
    left_out = f", {made.suppressed:,} suppressed ({reasons})" if made.suppressed else ""
    verb = "is over" if made.phase == "Completed" else "was stopped"
    return f"schedule '{made.name}' {verb}: {made.injected:,} of {planned} injected{left_out}"


def stop(
    call: Invocation,
    schedule: Annotated[
        str,
        typer.Argument(
            metavar="SCHEDULE",
            help="Name of the FaultSchedule",
            parser=checked("SCHEDULE", fault_name),
        ),
    ],
    *,
    output: Output = "",
) -> None:
    """Stop a schedule: no further faults come, and those that are open stay until their time is over or they are cleared."""
    from kwokctl.clusters.faults.stop_storm import stop_storm

    if call.is_dry_run:
        dry_run.remark(call, f"Set spec.stop of the FaultSchedule '{schedule}'.", output)
        return
    stopped = call.run(stop_storm, call.home, call.cluster, schedule)
    ended = f"schedule '{schedule}' had ended before ({stopped.phase})"
    outcome = Outcome(
        message=f"schedule '{schedule}' is stopped" if stopped.changed else ended,
        lead="Now you can",
        then=(
            f"{call.itself} fault status --schedules",
            f"{call.itself} fault clear --schedule {schedule}",
        ),
        cluster=call.name,
        changed=stopped.changed,
        result=stopped,
    )
    conclude(call, outcome, output)


def _data(found: "PlannedStorm") -> dict[str, object]:
    import msgspec

    planned = found.plan
    return {
        "horizon": planned.horizon,
        "nodes": found.nodes,
        "lemons": planned.lemons,
        "empty": planned.empty,
        "faults": msgspec.to_builtins(planned.faults),
    }


def _row(each: "PlannedFault", *, is_wide: bool) -> list[str]:
    lasts = "" if each.lasts is None else _time(each.lasts)
    row = [_time(each.at), each.class_name, each.unit, lasts, each.process]
    if is_wide:
        values = ",".join(f"{name}={value}" for name, value in each.parameters.items())
        row += [str(len(each.nodes)), str(each.seed), values]
    return row


def _time(seconds: float) -> str:
    return format_duration(round(seconds * 1000) * _MILLI)


def _summary(found: "PlannedStorm") -> Iterator[str]:
    planned = found.plan
    counts = Counter(each.class_name for each in planned.faults)
    words = ", ".join(f"{number:,} {name}" for name, number in counts.most_common())
    horizon = format_seconds(round(planned.horizon))
    total = amount(len(planned.faults), "faults")
    yield f"{total} in {horizon} on {amount(found.nodes, 'nodes')}{': ' if words else ''}{words}"
    if planned.lemons:
        yield f"lemons: {', '.join(planned.lemons)}"
    for name in planned.empty:
        yield f"the process '{name}' has no unit on these nodes"
