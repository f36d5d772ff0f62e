"""`snapshot export`, and `save --format k8s`: objects of a cluster into a file."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kwokctl.cli import dry_run
from kwokctl.cli.conclusion import Outcome, conclude
from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output.progress_rows import amount
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.option_values import checked, file_to_write, number, whole_number
from kwokctl.cli.parsing.shared_options import Output
from kwokctl.cli.verbs.time_travel import snapshot_record
from kwokctl.cli.verbs.time_travel.snapshot_record import Duration
from kwokctl.config import checks
from kwokctl.errors import UsageError

if TYPE_CHECKING:
    from kwokctl.clusters.object_files.exporting.export import (
        ExportedObjects,
        ExportRequest,
        ExportSource,
    )

Filter = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        metavar="KIND,…",
        help="Only these kinds, such as pod or deployment.apps; may be repeated, or a "
        "comma-separated list [default: those of workloads, access and storage, and all custom "
        "resources]",
    ),
]
WithSecrets = Annotated[
    bool | None,
    typer.Option(
        "--with-secrets/--no-with-secrets",
        help="Include Secrets, which are left out by default; KWOK_COMPAT=kwokctl includes them",
    ),
]
Rules = Annotated[
    str,
    typer.Option(
        "--rules",
        metavar="FILE",
        help="Rules that change objects before they are written: a file, or 'twin', which replaces "
        "all names and texts of the user, and turns real nodes into fake ones",
        parser=checked("--rules", lambda word: None if word == "twin" else checks.file(word)),
    ),
]
_Path = Annotated[
    str,
    typer.Option(
        "--path",
        metavar="FILE",
        help="The file to write; compressed if it ends in .gz",
        parser=file_to_write("--path"),
    ),
]
_Kubeconfig = Annotated[
    str,
    typer.Option(
        "--kubeconfig",
        metavar="FILE",
        help="Kubeconfig whose current context names the cluster [default: ~/.kube/config, and in a pod "
        "its service account]",
        parser=checked("--kubeconfig", checks.file),
    ),
]
_As = Annotated[
    str,
    typer.Option(
        "--as",
        metavar="USER",
        help="Impersonate this user",
        parser=checked("--as", checks.text),
    ),
]
_AsGroup = Annotated[
    list[str] | None,
    typer.Option("--as-group", metavar="GROUP", help="Impersonate this group; may be repeated"),
]
_PAGE_SIZE, _PAGES_AHEAD = 500, 10
_PageSize = Annotated[
    int,
    typer.Option(
        "--page-size",
        metavar="N",
        help="Objects per request; 0 for all at once [default: 500]",
        parser=whole_number("--page-size", least=0),
    ),
]
_PagesAhead = Annotated[
    int,
    typer.Option(
        "--page-buffer-size",
        metavar="N",
        help="Pages of a kind that may wait to be written [default: 10]",
        parser=whole_number("--page-buffer-size", least=0),
    ),
]
_Qps = Annotated[
    float,
    typer.Option(
        "--qps",
        metavar="N",
        help="Limit of requests per second, to spare the API server [default: 0, no limit]",
        parser=number("--qps", least=0.0, most=10_000.0),
    ),
]


def register(below: typer.Typer) -> None:
    """Add the command to those of `snapshot`."""
    examples = (
        "kwokctl snapshot export --kubeconfig prod.kubeconfig --path prod.yaml.gz --qps 5",
        "kwokctl snapshot export --as auditor --filter node,pod --path pods.yaml",
    )
    recordings = (
        "kwokctl snapshot record --path run.yaml.gz",
        "kwokctl snapshot record --path run.yaml --duration 10m --filter node,pod",
    )
    commands.command(below, "export", examples=examples)(export)
    commands.command(below, "record", examples=recordings)(record)


def export(
    call: Invocation,
    *,
    path: _Path,
    kubeconfig: _Kubeconfig = "",
    kinds: Filter = None,
    with_secrets: WithSecrets = None,
    rules: Rules = "",
    as_user: _As = "",
    as_groups: _AsGroup = None,
    page_size: _PageSize = _PAGE_SIZE,
    pages_ahead: _PagesAhead = _PAGES_AHEAD,
    qps: _Qps = 0.0,
    record: Annotated[
        bool, typer.Option("--record", help="Keep recording changes, for 'snapshot replay'")
    ] = False,
    seconds: Duration = None,
    output: Output = "",
) -> None:
    """Write the objects of any cluster to a file for 'snapshot restore --format k8s'.

    After an interruption the same command continues where it stopped.
    """
    from kwokctl.clusters.object_files.exporting.chosen_kinds import named
    from kwokctl.clusters.object_files.exporting.export import ExportRequest, export_objects
    from kwokctl.clusters.object_files.exporting.listing import ReadOptions
    from kwokctl.clusters.object_files.rules.rules_file import load_rules

    if record:
        _refuse_for_records(page_size=page_size, pages_ahead=pages_ahead, qps=qps)
    elif seconds is not None:
        raise UsageError("'--duration' needs '--record'", hint="add '--record'")
    source = _source(kubeconfig, as_user, as_groups or [])
    request = ExportRequest(
        path=Path(path),
        kinds=named(kinds),
        with_secrets=_has_secrets(call, kinds, with_secrets),
        rules=load_rules(rules) if rules else None,
        reading=ReadOptions(page_size=page_size, pages_ahead=pages_ahead, qps=qps),
    )
    if call.is_dry_run:
        dry_run.remark(call, _foreseen(str(source), request), output)
        return
    if record:
        snapshot_record.record_any(call, source, request, seconds, output)
        return
    done = call.run(export_objects, source, request, call.progress)
    _conclude(call, str(source), done, output)


def record(
    call: Invocation,
    *,
    path: _Path,
    kinds: Filter = None,
    with_secrets: WithSecrets = None,
    rules: Rules = "",
    seconds: Duration = None,
    output: Output = "",
) -> None:
    """Record the objects of a cluster and all changes to them, until Ctrl-C."""
    from kwokctl.clusters.object_files.exporting.chosen_kinds import named
    from kwokctl.clusters.object_files.exporting.export import ExportRequest
    from kwokctl.clusters.object_files.rules.rules_file import load_rules

    request = ExportRequest(
        path=Path(path),
        kinds=named(kinds),
        with_secrets=_has_secrets(call, kinds, with_secrets),
        rules=load_rules(rules) if rules else None,
    )
    if call.is_dry_run:
        dry_run.remark(call, _foreseen(f"the cluster '{call.name}'", request), output)
        return
    snapshot_record.record_own(call, request, seconds, output)


def save(
    call: Invocation,
    path: Path,
    kinds: list[str] | None,
    *,
    with_secrets: bool | None,
    rules: str,
    force: bool,
    output: str,
) -> None:
    """Write the objects of a cluster of this kwokctl."""
    from kwokctl.clusters.object_files.exporting.chosen_kinds import named
    from kwokctl.clusters.object_files.exporting.export import ExportRequest, save_objects
    from kwokctl.clusters.object_files.rules.rules_file import load_rules

    request = ExportRequest(
        path=path,
        kinds=named(kinds),
        with_secrets=_has_secrets(call, kinds, with_secrets),
        rules=load_rules(rules) if rules else None,
        force=force,
        resumes=False,
    )
    if call.is_dry_run:
        dry_run.remark(call, _foreseen(f"the cluster '{call.name}'", request), output)
        return
    done = call.run(save_objects, call.home, call.cluster, request)
    _conclude(call, f"the cluster '{call.name}'", done, output, cluster=call.name)


def _has_secrets(call: Invocation, kinds: list[str] | None, asked: bool | None) -> bool:
    """Return whether Secrets are written beside the kinds that are named."""
    return not kinds and call.acts_as_original if asked is None else asked


def _refuse_for_records(*, page_size: int, pages_ahead: int, qps: float) -> None:
    """Refuse what sets how pages are read: a recording watches, and reads each kind only once."""
    given = (
        ("--page-size", page_size != _PAGE_SIZE),
        ("--page-buffer-size", pages_ahead != _PAGES_AHEAD),
        ("--qps", qps > 0),
    )
    for flag, is_given in given:
        if is_given:
            raise UsageError(f"'{flag}' is not for '--record'", hint=f"leave out '{flag}'")


def _source(kubeconfig: str, user: str, groups: list[str]) -> "ExportSource":
    from kwokctl.clusters.object_files.exporting.export import ExportSource
    from kwokctl.host.paths import expanded

    if groups and not user:
        raise UsageError("'--as-group' needs '--as'", hint="for example: --as me --as-group admins")
    file = expanded(kubeconfig) if kubeconfig else None
    return ExportSource(kubeconfig=file, as_user=user, as_groups=tuple(groups))


def _foreseen(source: str, request: "ExportRequest") -> str:
    what = ", ".join(request.kinds) or "the default kinds and all custom resources"
    return f"Read {what} of {source}, and write them to '{request.path}'."


def _conclude(
    call: Invocation, source: str, done: "ExportedObjects", output: str, *, cluster: str = ""
) -> None:
    size = f"{amount(done.objects, 'objects')}, {amount(done.size, 'B')}"
    remarks = []
    if done.unknown:
        remarks.append(f"it does not have: {', '.join(done.unknown)}")
    if done.lacks_secrets:
        remarks.append("Secrets are left out; --with-secrets adds them")
    outcome = Outcome(
        message=f"wrote {source} to '{done.path}' ({size})",
        lead="Restore it with",
        then=(f"kwokctl snapshot restore --format k8s --path {shlex.quote(str(done.path))}",),
        remark="\n".join(remarks),
        cluster=cluster,
        result=done,
    )
    conclude(call, outcome, output)
