"""`status`: a whole cluster on one screen."""

from typing import Annotated

import typer

from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output import results
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.options import DataOutput


def register(app: typer.Typer) -> None:
    """Add the command."""
    examples = ("kwokctl status", "kwokctl --name big status --watch", "kwokctl status -o json")
    commands.command(app, "status", panel=commands.CLUSTERS, examples=examples)(status)


def status(
    call: Invocation,
    *,
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Keep running, and refresh every 2 s")
    ] = False,
    output: DataOutput = "",
) -> None:
    """Show a cluster on one screen, and what is wrong with it.

    CPU is the number of processors used during half a second. Pods that run are only
    counted; others are counted by the status that 'kubectl get pods' shows. What cannot be found out
    is left out, and null in json and yaml. Exits with 1 unless every component is ready.
    """
    from kwokctl.cli.output.overview import emit_overview, emit_overviews
    from kwokctl.clusters.overview.gather import look, looks
    from kwokctl.clusters.status import RunStatus

    name = call.cluster
    call = call.quietly()
    if watch:
        call.run(emit_overviews, looks(call.home, name), output)
        return
    seen = call.run(look, call.home, name)
    if output:
        results.emit_data(seen, output)
    else:
        emit_overview(seen)
    if seen.status is not RunStatus.READY:
        raise typer.Exit(1)
