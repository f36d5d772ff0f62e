"""`logs` and `export logs`: what components have written."""

from typing import TYPE_CHECKING, Annotated

import typer

from kwokctl.cli import dry_run
from kwokctl.cli.conclusion import Outcome, conclude
from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output import results
from kwokctl.cli.output.progress_rows import amount
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.option_values import duration, folder_to_write
from kwokctl.cli.parsing.shared_options import Output, count_option

if TYPE_CHECKING:
    from kwokctl.clusters.logs import LineRange
    from kwokctl.clusters.state.home import Home
    from kwokctl.model import ClusterName


def register(app: typer.Typer) -> None:
    """Add the commands."""
    examples = (
        "kwokctl logs kube-scheduler --tail 20 --follow",
        "kwokctl logs kube-apiserver --since 5m",
    )
    commands.command(app, "logs", panel=commands.CLUSTERS, examples=examples)(logs)
    below = commands.group(
        app,
        "export",
        "Export the logs and the configuration of a cluster.",
        panel=commands.CLUSTERS,
    )
    exporting = ("kwokctl export logs", "kwokctl --name other export logs /tmp/exported")
    commands.command(below, "logs", examples=exporting)(export_logs)


def logs(
    call: Invocation,
    *,
    log: Annotated[
        str,
        typer.Argument(metavar="COMPONENT", help="A component of the cluster, or 'audit'"),
    ],
    follow: Annotated[
        bool,
        typer.Option("--follow", "-f", help="Keep running, and print new lines"),
    ] = False,
    tail: Annotated[
        int | None,
        count_option("--tail", "Only the last N lines [default: all]"),
    ] = None,
    since: Annotated[
        float | None,
        typer.Option(
            "--since",
            metavar="DURATION",
            help="Only lines younger than this, such as 90s or 1h [default: all]",
            parser=duration("--since"),
        ),
    ] = None,
) -> None:
    """Print the log of a component.

    --since compares the times in the lines; a line without one is as old as the line before it.
    """
    from datetime import UTC, datetime, timedelta

    from kwokctl.clusters.logs import LineRange

    begin = None if since is None else datetime.now(UTC) - timedelta(seconds=since)
    wanted = LineRange(tail=tail, since=begin)
    call.run(show, call.home, call.cluster, log, follow=follow, wanted=wanted)


async def show(
    home: "Home", name: "ClusterName", component: str, *, follow: bool, wanted: "LineRange"
) -> None:
    """Write a component's log to standard output as it is."""
    from kwokctl.clusters.logs import component_logs

    async for part in component_logs(home, name, component, follow=follow, wanted=wanted):
        results.emit_bytes(part)


def export_logs(
    call: Invocation,
    *,
    folder: Annotated[
        str | None,
        typer.Argument(
            metavar="DIR",
            help="Folder to export to, into a subfolder with the cluster's name [default: the "
            "cluster's own folder]",
            parser=folder_to_write("DIR"),
        ),
    ] = None,
    output: Output = "",
) -> None:
    """Write the cluster's configuration, a description of its runtime, and every log into a folder.

    Passwords, tokens, private keys and the content of Secrets are left out.
    """
    from kwokctl.clusters.inspection.export_logs import export_logs
    from kwokctl.host.paths import expanded

    call = call.quietly(unless=not output)
    target = expanded(folder) if folder is not None else None
    if call.is_dry_run:
        from kwokctl.clusters.dry_run.export_steps import export_steps

        dry_run.show(call, call.run(export_steps, call.home, call.cluster, target), output)
        return
    exported = call.run(export_logs, call.home, call.cluster, target)
    if not output:
        results.emit(str(exported.path))
    lacking = (
        f"; {amount(len(exported.missing), 'files')} could not be read" if exported.missing else ""
    )
    outcome = Outcome(
        message=f"exported {amount(len(exported.files), 'files')} of '{call.name}' to '{exported.path}'{lacking}",
        cluster=call.name,
        result=exported,
    )
    conclude(call, outcome, output)
