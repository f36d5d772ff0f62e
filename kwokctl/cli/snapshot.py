"""`snapshot`: a cluster's etcd into a file, and back."""

from pathlib import Path
from typing import Annotated

import typer

from kwokctl.cli import commands, results, unserved
from kwokctl.cli.invocation import Invocation
from kwokctl.cli.options import Output
from kwokctl.cli.values import one_of
from kwokctl.errors import NotServedError

_Path = Annotated[str, typer.Option("--path", metavar="FILE", help="The snapshot file")]
_Format = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="Format of the file: etcd [default: etcd]",
        parser=one_of("--format", "etcd", "k8s"),
    ),
]
_Filter = Annotated[list[str] | None, typer.Option("--filter", metavar="KIND", hidden=True)]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    below = commands.group(
        app, "snapshot", "Save and restore a cluster's data.", panel=commands.CLUSTERS
    )
    commands.command(below, "save")(save)
    commands.command(below, "restore")(restore)
    refused = unserved.refusing("snapshot export", "'kwokctl snapshot save' saves a cluster's etcd")
    commands.raw_command(below, "export", hidden=True)(refused)


def save(
    call: Invocation,
    *,
    path: _Path,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the file if there is one")
    ] = False,
    file_format: _Format = "etcd",
    kinds: _Filter = None,
    output: Output = "",
) -> None:
    """Save all that is in etcd; the file holds every Secret, so only you may read it."""
    _check(file_format, kinds)
    from kwokctl.clusters.snapshot import save_snapshot

    call = call.quietly(unless=not output)
    saved = call.run(save_snapshot, call.home, call.cluster, Path(path), force=force)
    if output:
        results.emit_data(saved, output)


def restore(
    call: Invocation,
    *,
    path: _Path,
    file_format: _Format = "etcd",
    kinds: _Filter = None,
    output: Output = "",
) -> None:
    """Replace all that is in etcd with what a snapshot holds."""
    _check(file_format, kinds)
    from kwokctl.clusters.snapshot import restore_snapshot

    call = call.quietly(unless=not output)
    restored = call.run(restore_snapshot, call.home, call.cluster, Path(path))
    if output:
        results.emit_data(restored, output)


def _check(file_format: str, kinds: list[str] | None) -> None:
    if file_format != "etcd":
        raise NotServedError(
            f"'--format {file_format}' is not served yet", hint="use --format etcd"
        )
    if kinds:
        raise NotServedError(
            "'--filter' is not served yet", hint="an etcd snapshot holds all kinds"
        )
