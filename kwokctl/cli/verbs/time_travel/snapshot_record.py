"""`snapshot record`, `export --record` and `replay`: what happens in a cluster, and once more."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kwokctl.cli import dry_run
from kwokctl.cli.conclusion import Outcome, conclude
from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output.progress_rows import amount
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.option_values import duration, file_to_write, number
from kwokctl.cli.parsing.shared_options import Output

if TYPE_CHECKING:
    from kwokctl.clusters.object_files.exporting.export import ExportRequest, ExportSource
    from kwokctl.clusters.object_files.recording.record import Recorded

Duration = Annotated[
    float | None,
    typer.Option(
        "--duration",
        metavar="DURATION",
        help="How long to record, such as 10m [default: until Ctrl-C]",
        parser=duration("--duration"),
    ),
]
Speed = Annotated[
    float,
    typer.Option(
        "--speed",
        metavar="N",
        help="Speed of the replay, from 0.01 to 1000 times the original [default: 1]",
        parser=number("--speed", least=0.01, most=1000.0),
    ),
]
_Path = Annotated[
    str,
    typer.Option("--path", metavar="FILE", help="The recording", parser=file_to_write("--path")),
]
_NAMED = 3
"""Changes that are named of those that were refused."""


def register(below: typer.Typer) -> None:
    """Add the command to those of `snapshot`."""
    examples = (
        "kwokctl snapshot replay --path prod.yaml.gz",
        "kwokctl snapshot replay --path prod.yaml.gz --speed 5",
    )
    commands.command(below, "replay", examples=examples)(replay)


def replay(
    call: Invocation,
    *,
    path: _Path,
    speed: Speed = 1.0,
    snapshot: Annotated[
        bool,
        typer.Option(
            "--snapshot/--no-snapshot",
            help="First restore the objects at the start of the recording",
        ),
    ] = True,
    output: Output = "",
) -> None:
    """Replay recorded changes with their original timing; scheduler and controllers are paused.

    On a terminal Space pauses, Enter continues, U is faster, D slower.
    """
    from kwokctl.cli.verbs.time_travel import replay_keys
    from kwokctl.clusters.object_files.recording.replay import (
        ReplayRequest,
        foreseen_replay,
        replay_recording,
    )

    request = ReplayRequest(path=Path(path), speed=speed, with_snapshot=snapshot)
    if call.is_dry_run:
        objects, changes, seconds = call.run(foreseen_replay, call.home, call.cluster, request)
        text = (
            f"Create, or update: {objects:,} objects; then {changes:,} changes in {seconds:,.0f} s."
        )
        dry_run.remark(call, text, output)
        return
    if replay_keys.is_possible():
        call.progress.note(replay_keys.HELP)
    done = call.run(replay_recording, call.home, call.cluster, request, replay_keys.read_keys)
    outcome = Outcome(
        message=f"replayed {part_of(done.failed)}'{path}' in the cluster '{call.name}' "
        f"({amount(done.objects, 'objects')}, {amount(done.changes, 'changes')})",
        remark=refused_text(done.failed),
        is_partial=bool(done.failed),
        cluster=call.name,
        result=done,
    )
    conclude(call, outcome, output)


def record_any(
    call: Invocation,
    source: "ExportSource",
    request: "ExportRequest",
    seconds: float | None,
    output: str,
) -> None:
    """Record any cluster."""
    from kwokctl.clusters.object_files.recording.record import record_objects

    done = call.run(record_objects, source, request, seconds, call.progress)
    _conclude(call, str(source), done, output)


def record_own(
    call: Invocation, request: "ExportRequest", seconds: float | None, output: str
) -> None:
    """Record a cluster of this kwokctl."""
    from kwokctl.clusters.object_files.recording.record import record_cluster

    done = call.run(record_cluster, call.home, call.cluster, request, seconds)
    _conclude(call, f"the cluster '{call.name}'", done, output, cluster=call.name)


def _conclude(
    call: Invocation, source: str, done: "Recorded", output: str, *, cluster: str = ""
) -> None:
    counts = f"{amount(done.objects, 'objects')}, then {amount(done.changes, 'changes')}"
    lead, verb = "Replay it with", "replay"
    if not done.changes:  # then a replay refuses it
        lead, verb = (
            "Restore the objects with",
            "restore --format k8s",
        )
    outcome = Outcome(
        message=f"recorded {source} in '{done.path}' ({counts}, {amount(done.size, 'B')})",
        lead=lead,
        then=(f"kwokctl snapshot {verb} --path {shlex.quote(str(done.path))}",),
        remark="Secrets are left out; --with-secrets adds them" if done.lacks_secrets else "",
        cluster=cluster,
        result=done,
    )
    conclude(call, outcome, output)


def part_of(failed: Sequence[str]) -> str:
    """Return the words before what was written in part; empty if nothing was refused."""
    return "a part of " if failed else ""


def refused_text(failed: Sequence[str]) -> str:
    """Return a sentence about the changes that were refused; empty without any."""
    if not failed:
        return ""
    shown = [f"  {fault}" for fault in failed[:_NAMED]]
    more = len(failed) - _NAMED
    rest = [f"  and {more:,} more: see them with -o json"] if more > 0 else []
    return "\n".join([f"{len(failed):,} refused:", *shown, *rest])
