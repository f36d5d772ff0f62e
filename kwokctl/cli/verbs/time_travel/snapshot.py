"""`snapshot save` and `restore`: a cluster's etcd, or its objects, into a file, and back."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kwokctl.cli import dry_run
from kwokctl.cli.conclusion import Outcome, conclude
from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output.progress_rows import amount
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.option_values import file_to_write, one_of
from kwokctl.cli.parsing.shared_options import Output
from kwokctl.cli.verbs.time_travel import (
    snapshot_export,
    snapshot_marks,
    snapshot_record,
    snapshot_serve,
)
from kwokctl.cli.verbs.time_travel.snapshot_export import Filter, Rules, WithSecrets
from kwokctl.errors import UsageError

if TYPE_CHECKING:
    from kwokctl.clusters.object_files.restoring.restore import RestoredObjects

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
        help="etcd: the whole database; k8s: objects as YAML documents, which any cluster can "
        "restore [default: etcd]",
        parser=one_of("--format", "etcd", "k8s"),
    ),
]
_ETCD = "etcd"
_NAMED = 3
"""Objects that are named of those that were refused."""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    below = commands.group(
        app,
        "snapshot",
        "Save and restore a cluster's data, and rewind it.",
        panel=commands.CLUSTERS,
    )
    saving = (
        "kwokctl snapshot save --path before.db",
        "kwokctl snapshot save --format k8s --path before.yaml.gz",
    )
    restoring = (
        "kwokctl snapshot restore --path before.db --without-faults",
        "kwokctl snapshot restore --path before.db",
        "kwokctl --name other snapshot restore --path before.db",
        "kwokctl --name other snapshot restore --format k8s --path before.yaml.gz",
    )
    commands.command(below, "save", examples=saving)(save)
    commands.command(below, "restore", examples=restoring)(restore)
    snapshot_export.register(below)
    snapshot_record.register(below)
    snapshot_marks.register(below)
    snapshot_serve.register(below)


def save(
    call: Invocation,
    *,
    path: _Path,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file")] = False,
    file_format: _Format = _ETCD,
    kinds: Filter = None,
    with_secrets: WithSecrets = None,
    rules: Rules = "",
    output: Output = "",
) -> None:
    """Save the etcd database, or objects as YAML, to a file that only you may read.

    The format etcd holds every Secret, k8s none unless '--with-secrets' is given.
    """
    if file_format != _ETCD:
        snapshot_export.save(
            call,
            Path(path),
            kinds,
            with_secrets=with_secrets,
            rules=rules,
            force=force,
            output=output,
        )
        return
    _refuse_for_etcd(kinds, with_secrets=with_secrets, rules=rules)
    from kwokctl.clusters.snapshot import save_snapshot

    if call.is_dry_run:
        from kwokctl.clusters.dry_run.snapshot_steps import save_steps

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
    file_format: _Format = _ETCD,
    kinds: Filter = None,
    without_faults: Annotated[
        bool,
        typer.Option(
            "--without-faults",
            help="Leave out the Faults of the snapshot; the nodes show none of them",
        ),
    ] = False,
    output: Output = "",
) -> None:
    """Replace the etcd database, or create and update the objects of a file.

    With '--format k8s' other objects stay, and clients keep running; the scheduler and the
    controllers are paused.
    """
    if file_format != _ETCD:
        _restore_objects(call, Path(path), kinds, output, without_faults=without_faults)
        return
    _refuse_for_etcd(kinds)
    from kwokctl.clusters.snapshot import restore_snapshot

    if call.is_dry_run:
        from kwokctl.clusters.dry_run.snapshot_steps import restore_steps

        steps = call.run(
            restore_steps, call.home, call.cluster, Path(path), without_faults=without_faults
        )
        dry_run.show(call, steps, output)
        return
    restored = call.run(
        restore_snapshot, call.home, call.cluster, Path(path), without_faults=without_faults
    )
    remark = _left_out(restored.faults_left_out) if without_faults else ""
    outcome = Outcome(
        message=f"cluster '{call.name}' is restored from '{restored.path}'{remark}; clients must list again "
        "before they watch",
        lead="List the objects with",
        then=(f"{call.itself} kubectl get nodes,pods --all-namespaces",),
        cluster=call.name,
        result=restored,
    )
    conclude(call, outcome, output)


def _left_out(number: int) -> str:
    return f" without its {amount(number, 'Faults')}" if number else ", which has no Faults"


def _refuse_for_etcd(
    kinds: list[str] | None, *, with_secrets: bool | None = None, rules: str = ""
) -> None:
    given = {"--filter": kinds, "--with-secrets": with_secrets, "--rules": rules}
    for flag, value in given.items():
        if value not in (None, [], ""):
            raise UsageError(
                f"'{flag}' is for '--format k8s': an etcd snapshot holds all there is",
                hint=f"leave out '{flag}', or add '--format k8s'",
            )


def _restore_objects(
    call: Invocation, path: Path, words: list[str] | None, output: str, *, without_faults: bool
) -> None:
    from kwokctl.clusters.object_files.exporting.chosen_kinds import named
    from kwokctl.clusters.object_files.restoring.restore import foreseen_objects, restore_objects

    kinds = named(words)
    if call.is_dry_run:
        found = call.run(
            foreseen_objects, call.home, call.cluster, path, kinds, without_faults=without_faults
        )
        counts = ", ".join(f"{number:,} {kind}" for kind, number in sorted(found.items()))
        dry_run.remark(call, f"Create, or update: {counts}.", output)
        return
    done = call.run(
        restore_objects, call.home, call.cluster, path, kinds, without_faults=without_faults
    )
    what = f"the cluster '{call.name}' from '{path}'"
    if done.failed:
        what = f"a part of '{path}' in the cluster '{call.name}'"
    outcome = Outcome(
        message=f"restored {what} ({_counts(done)})",
        remark=_faults(done),
        is_partial=bool(done.failed),
        cluster=call.name,
        changed=bool(done.created or done.updated),
        result=done,
    )
    conclude(call, outcome, output)


def _counts(done: "RestoredObjects") -> str:
    parts = [f"{amount(done.created, 'objects')} created", f"{done.updated:,} updated"]
    if done.left:
        parts.append(f"{done.left:,} left, which a cluster makes itself")
    if done.faults_left_out:
        parts.append(f"{amount(done.faults_left_out, 'Faults')} left out")
    if done.failed:
        parts.append(f"{len(done.failed):,} refused")
    return ", ".join(parts)


def _faults(done: "RestoredObjects") -> str:
    lines = []
    for words, faults in (("without their owner", done.skipped), ("refused", done.failed)):
        if faults:
            more = len(faults) - _NAMED
            rest = [f"and {more:,} more: see them with -o json"] if more > 0 else []
            lines += [f"{len(faults):,} {words}:", *(f"  {f}" for f in (*faults[:_NAMED], *rest))]
    return "\n".join(lines)
