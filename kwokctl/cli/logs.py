"""`logs`: what a component has written."""

from typing import TYPE_CHECKING, Annotated

import typer

from kwokctl.cli import commands, results
from kwokctl.cli.invocation import Invocation

if TYPE_CHECKING:
    from kwokctl.clusters.home import Home
    from kwokctl.model import ClusterName


def register(app: typer.Typer) -> None:
    """Add the command."""
    commands.command(app, "logs", panel=commands.CLUSTERS)(logs)


def logs(
    call: Invocation,
    *,
    component: Annotated[
        str,
        typer.Argument(
            metavar="COMPONENT",
            help="A component of the cluster, or 'audit'",
        ),
    ],
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with what it writes from now on")
    ] = False,
) -> None:
    """Print what a component has written."""
    call.run(show, call.home, call.cluster, component, follow=follow)


async def show(home: "Home", name: "ClusterName", component: str, *, follow: bool) -> None:
    """Write a component's log to standard output as it is."""
    from kwokctl.clusters.logs import component_logs

    async for part in component_logs(home, name, component, follow=follow):
        results.emit_bytes(part)
