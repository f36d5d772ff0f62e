"""`snapshot`: a cluster's etcd into a file, and back."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from kwokctl.cli import dry_run
from kwokctl.cli.conclusion import Outcome, conclude
from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output.rows import amount
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.options import Output
from kwokctl.cli.parsing.values import file_to_write, one_of
from kwokctl.cli.verbs import unserved
from kwokctl.cli.verbs.time_travel import marks, serving
from kwokctl.errors import NotServedError

_Path = Annotated[
    str,
    typer.Option(
        "--path", metavar="FILE", help="The snapshot file", parser=file_to_write("--path")
    ),
]
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
        app,
        "snapshot",
        "Save and restore a cluster's data, and rewind it.",
        panel=commands.CLUSTERS,
    )
    saving = ("kwokctl snapshot save --path before.db",)
    restoring = (
        "kwokctl snapshot restore --path before.db",
        "kwokctl --name other snapshot restore --path before.db",
    )
    commands.command(below, "save", examples=saving)(save)
    commands.command(below, "restore", examples=restoring)(restore)
    marks.register(below)
    serving.register(below)
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

    if call.is_dry_run:
        from kwokctl.clusters.dry_run.snapshots import save_steps

        steps = call.run(save_steps, call.home, call.cluster, Path(path), force=force)
        dry_run.show(call, steps, output)
        return
    saved = call.run(save_snapshot, call.home, call.cluster, Path(path), force=force)
    outcome = Outcome(
        message=f"saved the cluster '{call.name}' to '{saved.path}' ({amount(saved.size, 'B')})",
        lead="Restore it with",
        then=(f"{call.itself} snapshot restore --path {shlex.quote(str(saved.path))}",),
        cluster=call.name,
        result=saved,
    )
    conclude(call, outcome, output)


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

    if call.is_dry_run:
        from kwokctl.clusters.dry_run.snapshots import restore_steps

        steps = call.run(restore_steps, call.home, call.cluster, Path(path))
        dry_run.show(call, steps, output)
        return
    restored = call.run(restore_snapshot, call.home, call.cluster, Path(path))
    outcome = Outcome(
        message=f"cluster '{call.name}' is restored from '{restored.path}'; clients must list again before "
        "they watch",
        lead="See what there is with",
        then=(f"{call.itself} kubectl get nodes,pods --all-namespaces",),
        cluster=call.name,
        result=restored,
    )
    conclude(call, outcome, output)


def _check(file_format: str, kinds: list[str] | None) -> None:
    if file_format != "etcd":
        raise NotServedError(
            f"'--format {file_format}' is not supported yet", hint="use --format etcd"
        )
    if kinds:
        raise NotServedError(
            "'--filter' is not supported yet", hint="an etcd snapshot holds all kinds"
        )
