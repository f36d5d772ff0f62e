"""`fault status`, `fault log`, `fault clear`: what there is, what happened, and its end."""

import time
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from kwokctl.cli import dry_run
from kwokctl.cli.conclusion import Outcome, conclude
from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output import results
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.option_values import checked
from kwokctl.cli.parsing.shared_options import Output, format_option, wait_option
from kwokctl.cli.verbs.faults.options import Faults, fault_name
from kwokctl.cli.verbs.faults.schedules import show_schedules
from kwokctl.errors import UsageError
from kwokctl.expr.duration import format_seconds
from kwokctl.progress import Progress

if TYPE_CHECKING:
    from kwokctl.clusters.faults.fault_states import FaultReport
    from kwokctl.clusters.faults.log import LogBatch
    from kwokctl.faults.truth.fault_truth import TruthEntry

_COLUMNS = ("NAME", "CLASS", "PHASE", "UNITS", "LANDED", "FAILED", "REPAIRED", "LEFT", "AGE")
_LOG = ("T", "FAULT", "PHASE", "NODE", "GPU", "POD", "CLASS", "DIALECT", "SIGNAL")
_FORMATS = ("table", "name", "wide", "json", "yaml")
_NAMED = 5


def register(below: typer.Typer) -> None:
    """Add the commands."""
    seeing = (
        "kwokctl fault status",
        "kwokctl fault status --watch",
        "kwokctl fault status -o wide",
        "kwokctl fault status --schedules",
    )
    clearing = (
        "kwokctl fault clear xid-79-x7k2p",
        "kwokctl fault clear --all --wait",
        "kwokctl fault clear --schedule night",
    )
    reading = (
        "kwokctl fault log",
        "kwokctl fault log -o json >truth.jsonl",
        "kwokctl fault log -f",
        "kwokctl fault log -f --sink http://127.0.0.1:8080/signals --sink exec:./receive.py",
    )
    commands.command(below, "status", examples=seeing)(status)
    commands.command(below, "clear", examples=clearing)(clear)
    commands.command(below, "log", examples=reading)(log)


def status(
    call: Invocation,
    named: Faults = None,
    *,
    watch: Annotated[
        bool,
        typer.Option("--watch", "-w", help="Keep running, and print a Fault again when it changes"),
    ] = False,
    schedules: Annotated[
        bool,
        typer.Option("--schedules", help="List the schedules in place of Faults; NAMEs are theirs"),
    ] = False,
    output: Annotated[str, format_option(*_FORMATS, usual="table")] = "",
) -> None:
    """List the Faults of a cluster: how many units they hit, and how many of these show it.

    wide adds seed, dialects, parameters, and what is wrong. json and yaml give a list of {name, uid, className, phase, units, landed, failed,
    repaired, foreign, left, created, seed, dialects, parameters, reproducible, failedUnits: [{node, gpu, reason}], message}, with --watch
    one such list after the other. With --schedules they give {name, uid, phase, planned, injected, suppressed, suppressedBy: {reason: number},
    nodes, late, latest, started, left, created, seed, timeScale, message}.
    """
    from kwokctl.clusters.faults.fault_states import fault_changes, fault_reports

    quiet = call.quietly()
    if schedules:
        if watch:
            raise UsageError("'--schedules' and '--watch' exclude each other", hint="give one")
        show_schedules(quiet, named or (), output)
        return
    if watch:
        quiet.run(_show_changes, fault_changes(quiet.home, quiet.cluster, named or ()), output)
        return
    found = quiet.run(fault_reports, quiet.home, quiet.cluster, named or ())
    if output in ("json", "yaml"):
        results.emit_data(found, output)
    elif output == "name":
        results.emit("\n".join(each.name for each in found))
    else:
        _emit_rows(found, output, ())


async def _show_changes(changes: "AsyncIterator[list[FaultReport]]", output: str) -> None:
    widths: list[int] = []
    async for changed in changes:
        if output in ("json", "yaml"):
            results.emit("---" if output == "yaml" else "")
            results.emit_data(changed, output)
        elif output == "name":
            results.emit("\n".join(each.name for each in changed))
        else:
            widths = _emit_rows(changed, output, widths)


def _emit_rows(found: "Sequence[FaultReport]", output: str, widths: Sequence[int]) -> list[int]:
    now = time.time()  # noqa: TID251 - ages are counted from now
    headings, rows = [*_COLUMNS], [_row(each, now) for each in found]
    if output == "wide":
        headings += ["SEED", "DIALECTS", "PARAMETERS", "MESSAGE"]
        for row, each in zip(rows, found, strict=True):
            values = ",".join(f"{name}={value}" for name, value in each.parameters.items())
            row += [str(each.seed), ",".join(each.dialects), values, _message(each)]
    return results.emit_table(() if widths else headings, rows, widths=widths)


def _row(each: "FaultReport", now: float) -> list[str]:
    counts = (each.units, each.landed, each.failed, each.repaired)
    age = format_seconds(int(each.age(now)))
    return [each.name, each.class_name, each.phase, *map(str, counts), each.left, age]


def _message(each: "FaultReport") -> str:
    failed = [
        f"{unit.node}{'' if unit.gpu is None else f'/gpu-{unit.gpu}'}: {unit.reason}"
        for unit in each.failed_units[:_NAMED]
    ]
    return "; ".join(filter(None, (each.message, *failed)))


def clear(
    call: Invocation,
    named: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Names of Faults")
    ] = None,
    *,
    all_of_them: Annotated[
        bool, typer.Option("--all", help="Clear all Faults and schedules")
    ] = False,
    schedule: Annotated[
        str,
        typer.Option(
            "--schedule",
            metavar="SCHEDULE",
            help="Clear this FaultSchedule, and all Faults that it has brought",
            parser=checked("--schedule", fault_name),
        ),
    ] = "",
    wait: Annotated[
        float | None,
        wait_option("no node shows them", "when no further node has lost them for {}"),
    ] = None,
    output: Output = "",
) -> None:
    """Clear faults: delete the Faults; the controller then restores what they had changed.

    Save the output of 'fault log' before: it does not show Faults that were deleted.
    """
    from kwokctl.clusters.faults.clear import FaultsToClear
    from kwokctl.clusters.faults.clear import clear as clear_faults

    given = [bool(named), all_of_them, bool(schedule)]
    if sum(given) != 1:
        problem = (
            "names, '--all' and '--schedule' exclude each other"
            if any(given)
            else "no Fault is named"
        )
        raise UsageError(
            problem, hint="give the names of Faults, or --schedule with one of a schedule, or --all"
        )
    request = FaultsToClear(
        names=named or (), schedule=schedule, wait=wait or None, only_look=call.is_dry_run
    )
    done = call.run(clear_faults, call.home, call.cluster, request)
    names = ", ".join(f"'{each}'" for each in done.names)
    schedules = ", ".join(f"'{each}'" for each in done.schedules)
    if call.is_dry_run:
        first = f"Delete the FaultSchedules: {schedules}. " if schedules else ""
        dry_run.remark(call, f"{first}Delete the Faults: {names or 'none'}.", output)
        return
    outcome = Outcome(
        message="; ".join(filter(None, (_cleared("schedule", schedules), _cleared("fault", names))))
        or "there is no fault to clear",
        cluster=call.name,
        changed=bool(names or schedules),
        result=done,
    )
    conclude(call, outcome, output)


def _cleared(what: str, names: str) -> str:
    """Return a clause about what was cleared; empty without names."""
    if not names:
        return ""
    is_one = "," not in names
    return f"{what}{'' if is_one else 's'} {names} {'is' if is_one else 'are'} cleared"


def log(
    call: Invocation,
    named: Faults = None,
    *,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Keep running, and print what happens")
    ] = False,
    sink: Annotated[
        list[str] | None,
        typer.Option(
            "--sink",
            metavar="RECEIVER",
            help="With --follow: also give each signal as JSON to a program, such as exec:./receive.py, which is run with it as input, or "
            "POST it to a URL; may be repeated",
        ),
    ] = None,
    output: Annotated[str, format_option("table", "json", usual="table")] = "",
) -> None:
    """Print what was injected, where and when, and when each component shows it.

    json gives a line for each, {t, wall, fault, uid, class, phase, node, gpu, pod, dialect, signal}; t is in seconds after the start of the fault.
    A fault of a schedule that was suppressed has the phase 'suppressed' and its reason as signal; these are left out where NAMEs are given.
    Equal seeds give equal lines but for wall and uid. A Fault that was deleted has left the log; one that has ended by itself is in it until then.
    With --follow, the end of one that is deleted meanwhile is printed.
    """
    from kwokctl.clusters.faults.log import fault_log, fault_log_lines

    if sink and not follow:
        raise UsageError("'--sink' needs '--follow'", hint="without it nothing is sent")

    quiet, wall = call.quietly(), time.time  # noqa: TID251 - the clock itself: it is passed on from here
    if follow:
        lines = fault_log_lines(quiet.home, quiet.cluster, named or (), wall)
        quiet.run(_show_log, lines, output, sink or (), call.progress)
        return
    _emit_log(quiet.run(fault_log, quiet.home, quiet.cluster, named or (), wall), output, ())


async def _show_log(
    lines: "AsyncIterator[LogBatch]", output: str, words: Sequence[str], progress: Progress
) -> None:
    from kwokctl.clusters.faults.sinks.delivery import open_sinks
    from kwokctl.clusters.faults.sinks.receivers import check_receiver

    for word in words:
        check_receiver(word)
    widths: list[int] = []
    wall = time.time  # noqa: TID251 - the clock itself: it is passed on from here
    async with open_sinks(words, progress, wall) as sinks:
        async for new in lines:
            widths = _emit_log(new.entries, output, widths)
            await sinks.put(new)


def _emit_log(found: "Sequence[TruthEntry]", output: str, widths: Sequence[int]) -> list[int]:
    if output == "json":
        import msgspec

        results.emit_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in found))
        return []
    rows = [
        [
            f"{each.t:.3f}", each.fault, each.phase, each.node, "" if each.gpu is None else str(each.gpu),
            each.pod, each.class_name, each.dialect,
            each.signal if not each.late else f"signals were up to {each.late:.3f} s late",
        ]
        for each in found
    ]  # fmt: skip
    return results.emit_table(() if widths else _LOG, rows, widths=widths)
