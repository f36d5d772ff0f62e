"""`snapshot mark`, `rewind`, `list` and `drop`: back and forth in the time of a running cluster."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from kwokctl.cli import dry_run
from kwokctl.cli.conclusion import Outcome, conclude
from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output import results
from kwokctl.cli.output.progress_rows import amount
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.option_values import checked, duration
from kwokctl.cli.parsing.shared_options import DataOutput, Output
from kwokctl.config.checks import quantity
from kwokctl.errors import UsageError
from kwokctl.expr.duration import format_time

if TYPE_CHECKING:
    from kwokctl.clusters.time_travel.rewind import Outlook, Rewound
    from kwokctl.clusters.time_travel.stored_marks import Mark

_MAX_SIZE = "4Gi"
_SHOWN = 5
"""Objects that are named of those that do not stay as they were."""


def register(below: typer.Typer) -> None:
    """Add the commands to those of `snapshot`."""
    going_back = (
        "kwokctl snapshot mark && ./run-a-test; kwokctl snapshot rewind",
        "kwokctl snapshot rewind --dry-run",
    )
    marking = ("kwokctl snapshot mark", "kwokctl snapshot mark with-crds")
    commands.command(below, "mark", examples=marking)(mark)
    commands.command(below, "rewind", examples=going_back)(rewind)
    commands.command(below, "list")(list_all)
    commands.command(below, "drop", examples=("kwokctl snapshot drop with-crds",))(drop)


def mark(
    call: Invocation,
    named: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of the mark; one of that name is replaced")
    ] = "mark",
    *,
    max_size: Annotated[
        str,
        typer.Option(
            "--max-size",
            metavar="QUANTITY",
            help="Drop the oldest marks of the cluster when all its marks take more than this "
            "[default: 4Gi]",
            parser=checked("--max-size", quantity),
        ),
    ] = "",
    max_age: Annotated[
        float | None,
        typer.Option(
            "--max-age",
            metavar="DURATION",
            help="Drop the marks of the cluster that are older than this [default: 0s, keep them]",
            parser=duration("--max-age"),
        ),
    ] = None,
    output: Output = "",
) -> None:
    """Mark the state of a running cluster, to return to it with 'snapshot rewind'."""
    if call.is_dry_run:
        text = f"Read all objects at one revision, and keep them as the mark '{named}'."
        dry_run.remark(call, text, output)
        return
    from kwokctl.clusters.time_travel.make_mark import MarkBounds, mark_cluster
    from kwokctl.config.quantity import to_bytes

    bounds = MarkBounds(size=to_bytes(max_size or _MAX_SIZE), age=max_age or 0)
    made = call.run(mark_cluster, call.home, call.cluster, named, bounds)
    what = f"{amount(made.objects, 'objects')}, {amount(made.size, 'B')}"
    outcome = Outcome(
        message=f"marked the cluster '{call.name}' as '{made.name}' ({what})",
        lead="Go back to it with",
        then=(f"{call.itself} snapshot rewind {made.name}",),
        cluster=call.name,
        result=_document(made),
    )
    conclude(call, outcome, output)


def rewind(
    call: Invocation,
    named: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of the mark [default: the latest]")
    ] = "",
    *,
    keep_events: Annotated[
        bool, typer.Option("--keep-events", help="Keep the Events created since the mark")
    ] = False,
    output: Output = "",
) -> None:
    """Return a running cluster to a mark; API server, etcd and watches keep running."""
    from kwokctl.clusters.time_travel.rewind import foreseen, rewind_cluster

    if call.is_dry_run:
        outlook = call.run(foreseen, call.home, call.cluster, named)
        dry_run.remark(call, _expected(outlook), output)
        return
    done = call.run(rewind_cluster, call.home, call.cluster, named, keep_events=keep_events)
    counts = f"{amount(done.written, 'objects')} restored, {done.deleted:,} deleted"
    outcome = Outcome(
        message=f"cluster '{call.name}' is back at '{done.mark}' ({counts})",
        remark=_unsettled(done),
        cluster=call.name,
        changed=bool(done.written or done.deleted or done.events),
        result=done,
    )
    conclude(call, outcome, output)


def list_all(call: Invocation, *, output: DataOutput = "") -> None:
    """List the marks of a cluster, the latest last.

    json and yaml give a list of {name, made, objects, size}; made is a time, size is in bytes.
    """
    from kwokctl.clusters.time_travel.make_mark import list_marks

    marks = [_document(each) for each in call.run(list_marks, call.home, call.cluster)]
    if output:
        results.emit_data(marks, output)
    elif marks:
        rows = [
            (
                str(each["name"]),
                str(each["made"]),
                f"{each['objects']:,}",
                amount(int(each["size"]), "B"),
            )
            for each in marks
        ]
        results.emit_table(("NAME", "MADE", "OBJECTS", "SIZE"), rows)
    elif call.console.is_alive:
        call.console.line("No marks found")


def drop(
    call: Invocation,
    named: Annotated[str, typer.Argument(metavar="NAME", help="Name of the mark")] = "",
    *,
    every: Annotated[bool, typer.Option("--all", help="Remove all marks")] = False,
    output: Output = "",
) -> None:
    """Remove a mark; the cluster stays as it is."""
    if every == bool(named):
        raise UsageError(
            "'kwokctl snapshot drop' needs either a name or '--all'",
            hint="see the names with: kwokctl snapshot list",
        )
    if call.is_dry_run:
        what = "all marks" if every else f"the mark '{named}'"
        dry_run.remark(call, f"Remove {what}; the cluster stays as it is.", output)
        return
    from kwokctl.clusters.time_travel.make_mark import drop_marks

    dropped = call.run(drop_marks, call.home, call.cluster, named, every=every)
    outcome = Outcome(
        message=f"{amount(len(dropped), 'marks')} of the cluster '{call.name}' removed",
        cluster=call.name,
        changed=bool(dropped),
        result={"dropped": dropped},
    )
    conclude(call, outcome, output)


def _document(mark: "Mark") -> dict[str, str | int]:
    made = format_time(mark.made)
    return {"name": mark.name, "made": made, "objects": mark.objects, "size": mark.size}


def _expected(outlook: "Outlook") -> str:
    parts = (("restored", outlook.written), ("deleted", outlook.deleted))
    said = [f"{_counted(counts)} {what}" for what, counts in parts if counts]
    return f"To '{outlook.mark}': {'; '.join(said) or 'nothing has changed since'}."


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(amount(count, resource) for resource, count in sorted(counts.items()))


def _unsettled(done: "Rewound") -> str:
    if not done.unsettled:
        return ""
    names = ", ".join(done.unsettled[:_SHOWN])
    more = len(done.unsettled) - _SHOWN
    rest = f" and {more:,} more" if more > 0 else ""
    return f"running components change these again and again: {names}{rest}"
