"""`logs`: the log of a component."""

from typing import TYPE_CHECKING, Annotated

import typer

from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output import results
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.values import duration, whole_number

if TYPE_CHECKING:
    from kwokctl.clusters.logs import LineRange
    from kwokctl.clusters.state.home import Home
    from kwokctl.model import ClusterName


def register(app: typer.Typer) -> None:
    """Add the command."""
    examples = (
        "kwokctl logs kube-scheduler --tail 20 --follow",
        "kwokctl logs kube-apiserver --since 5m",
    )
    commands.command(app, "logs", panel=commands.CLUSTERS, examples=examples)(logs)


def logs(
    call: Invocation,
    *,
    component: Annotated[
        str,
        typer.Argument(metavar="COMPONENT", help="A component of the cluster, or 'audit'"),
    ],
    follow: Annotated[
        bool,
        typer.Option("--follow", "-f", help="Keep running, and print what it writes from now on"),
    ] = False,
    tail: Annotated[
        int | None,
        typer.Option(
            "--tail",
            metavar="N",
            help="Only the last N lines [default: all]",
            parser=whole_number("--tail", least=0),
        ),
    ] = None,
    since: Annotated[
        float | None,
        typer.Option(
            "--since",
            metavar="DURATION",
            help="Only lines that are not older, such as 90s or 1h [default: all]",
            parser=duration("--since"),
        ),
    ] = None,
) -> None:
    """Print the log of a component.

    For --since the times in the lines count; a line without one is as old as the line before it.
    """
    from datetime import UTC, datetime, timedelta

    from kwokctl.clusters.logs import LineRange

    begin = None if since is None else datetime.now(UTC) - timedelta(seconds=since)
    wanted = LineRange(tail=tail, since=begin)
    call.run(show, call.home, call.cluster, component, follow=follow, wanted=wanted)


async def show(
    home: "Home", name: "ClusterName", component: str, *, follow: bool, wanted: "LineRange"
) -> None:
    """Write a component's log to standard output as it is."""
    from kwokctl.clusters.logs import component_logs

    async for part in component_logs(home, name, component, follow=follow, wanted=wanted):
        results.emit_bytes(part)
