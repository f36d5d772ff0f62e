"""`snapshot serve`: marks and rewinds for other programs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kwokctl.cli import dry_run
from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output import results
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.option_values import file_to_write

if TYPE_CHECKING:
    from kwokctl.clusters.state.home import Home
    from kwokctl.model import ClusterName


def register(below: typer.Typer) -> None:
    """Add the command to those of `snapshot`."""
    examples = ("kwokctl snapshot serve", "kwokctl snapshot serve --socket ./marks.sock")
    commands.command(below, "serve", examples=examples)(serve)


def serve(
    call: Invocation,
    *,
    path: Annotated[
        str | None,
        typer.Option(
            "--socket",
            metavar="FILE",
            help="The unix socket [default: one in the cluster's folder, which is printed]",
            parser=file_to_write("--socket"),
        ),
    ] = None,
) -> None:
    """Serve marks and rewinds of a cluster to other programs on a unix socket, until interrupted.

    The first line of the output names the socket. Requests are JSON over HTTP: POST /mark, /rewind and
    /drop, GET /marks.
    """
    if call.is_dry_run:
        dry_run.remark(call, "Serve marks and rewinds at a unix socket that only you may use.")
        return
    call.run(serve_marks, call.home, call.cluster, Path(path).absolute() if path else None)


async def serve_marks(home: "Home", name: "ClusterName", path: Path | None) -> None:
    """Serve until this is cancelled, and print where."""
    import asyncio

    from kwokctl.clusters.mark_server import serving_marks

    async with serving_marks(home, name, path) as socket:
        results.emit(f"Serving marks of '{name}' at {socket}")
        await asyncio.Event().wait()
