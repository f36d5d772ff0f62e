"""`etcd snapshot record` and `replay`: what happens in an etcd, and once more; those of `kectl`, too."""

import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kwokctl.cli import dry_run
from kwokctl.cli.conclusion import Outcome, conclude
from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output.progress_rows import amount
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.option_values import file_to_write
from kwokctl.cli.parsing.shared_options import Output
from kwokctl.cli.verbs.direct_etcd import login
from kwokctl.cli.verbs.time_travel.snapshot_record import Duration, Speed, part_of, refused_text

if TYPE_CHECKING:
    from kwokctl.clusters.direct_etcd.recording import StoredRecording

GROUP = "snapshot"
_TEXT = "Record changes in etcd, and replay them."
_Path = Annotated[
    str,
    typer.Option("--path", metavar="FILE", help="The recording", parser=file_to_write("--path")),
]
_NAMED = 3
"""Faults that are named."""


def register(below: typer.Typer) -> None:
    """Add the commands to those of `etcd`."""
    snapshot = commands.group(below, GROUP, _TEXT)
    recording = (
        "kwokctl etcd snapshot record --path run.yaml.gz",
        "kwokctl etcd snapshot record --path objects.yaml --snapshot",
    )
    replaying = ("kwokctl etcd snapshot replay --path run.yaml.gz",)
    adds = login.parameters()
    commands.command(snapshot, "record", examples=recording, adds=adds)(record)
    commands.command(snapshot, "replay", examples=replaying, adds=adds)(replay)


def record(
    call: Invocation,
    *,
    path: _Path,
    snapshot: Annotated[
        bool, typer.Option("--snapshot", help="Write the current objects, and exit")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file")] = False,
    seconds: Duration = None,
    output: Output = "",
    **words: object,
) -> None:
    """Record all objects in etcd, Secrets included, and all changes to them, until Ctrl-C."""
    from kwokctl.clusters.direct_etcd.access import with_objects
    from kwokctl.clusters.direct_etcd.recording import StoredRecordingRequest, record_stored

    door = login.opened(call, words)
    if call.is_dry_run:
        dry_run.remark(call, f"Write the objects in etcd, and changes, to '{path}'.", output)
        return
    request = StoredRecordingRequest(
        path=Path(path), only_snapshot=snapshot, force=force, seconds=seconds
    )
    work = partial(record_stored, request=request, progress=call.progress)
    _conclude_record(call, call.run(with_objects, door, work), output)


def replay(
    call: Invocation,
    *,
    path: _Path,
    snapshot: Annotated[
        bool,
        typer.Option("--snapshot", help="Write only the objects at the start of the recording"),
    ] = False,
    speed: Speed = 1.0,
    output: Output = "",
    **words: object,
) -> None:
    """Write a recording into etcd: the objects, then each change at its time.

    No component is paused. On a terminal Space pauses, Enter continues, U is faster, D slower.
    """
    from kwokctl.cli.verbs.time_travel import replay_keys
    from kwokctl.clusters.direct_etcd.access import with_objects
    from kwokctl.clusters.direct_etcd.replaying import (
        StoredReplayRequest,
        foreseen_replay,
        replay_stored,
    )

    door = login.opened(call, words)
    request = StoredReplayRequest(path=Path(path), only_snapshot=snapshot, speed=speed)
    if call.is_dry_run:
        work = partial(foreseen_replay, request=request)
        objects, changes, seconds = call.run(with_objects, door, work)
        text = f"Put {objects:,} objects into etcd; then {changes:,} changes in {seconds:,.0f} s."
        dry_run.remark(call, text, output)
        return
    if replay_keys.is_possible() and not snapshot:
        call.progress.note(replay_keys.HELP)
    run = partial(
        replay_stored, request=request, controls=replay_keys.read_keys, progress=call.progress
    )
    done = call.run(with_objects, door, run)
    counts = f"{amount(done.objects, 'objects')}, {amount(done.changes, 'changes')}"
    outcome = Outcome(
        message=f"replayed {part_of(done.failed)}'{path}' in etcd ({counts})",
        remark=refused_text(done.failed),
        is_partial=bool(done.failed),
        cluster=call.name,
        result=done,
    )
    conclude(call, outcome, output)


def _conclude_record(call: Invocation, done: "StoredRecording", output: str) -> None:
    for fault in done.faults[:_NAMED]:
        call.console.warn(fault)
    if len(done.faults) > _NAMED:
        call.console.warn(f"{len(done.faults) - _NAMED:,} more are in the result of -o json")
    counts = f"{amount(done.objects, 'objects')}, then {amount(done.changes, 'changes')}"
    outcome = Outcome(
        message=f"recorded etcd in '{done.path}' ({counts}, {amount(done.size, 'B')})",
        lead="Replay it with",
        then=(f"kwokctl etcd snapshot replay --path {shlex.quote(str(done.path))}",),
        remark="Secrets are in it; only you can read the file",
        cluster=call.name,
        result=done,
    )
    conclude(call, outcome, output)
