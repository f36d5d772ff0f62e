"""`view`: a page in the browser that follows a running cluster."""

import time
from typing import TYPE_CHECKING, Annotated

import typer

from kwokctl.cli import dry_run
from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output import results
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.option_values import duration, whole_number

if TYPE_CHECKING:
    from kwokctl.clusters.state.home import Home
    from kwokctl.model import ClusterName
    from kwokctl.progress import Progress
    from kwokctl.view.view import ViewRequest

_USUAL = 600.0
_LONGEST = 7 * 86_400.0


def register(app: typer.Typer) -> None:
    """Add the command."""
    examples = ("kwokctl view", "kwokctl view --open", "kwokctl view --port 8080 --last 24h")
    commands.command(app, "view", panel=commands.CLUSTERS, examples=examples)(view)


def view(
    call: Invocation,
    *,
    port: Annotated[
        int,
        typer.Option(
            "--port",
            metavar="PORT",
            help="The port of 127.0.0.1 [default: 0, a free one]",
            parser=whole_number("--port", least=0, most=65535),
        ),
    ] = 0,
    opens: Annotated[bool, typer.Option("--open", help="Also open it in your browser")] = False,
    last: Annotated[
        float | None,
        typer.Option(
            "--last",
            metavar="DURATION",
            help="How far back charts go, up to 168h [default: 10m]",
            parser=duration("--last"),
        ),
    ] = None,
) -> None:
    """Show a running cluster on a page in the browser.

    It serves the page until Ctrl-C. The first line of the output has the address. Only who has the address can open the page. The page shows nodes, pods
    that wait and why, rates, components, open faults and marks, and changes nothing.
    """
    from kwokctl.errors import UsageError
    from kwokctl.view.view import ViewRequest

    span = _USUAL if last is None else last
    if not 0 < span <= _LONGEST:
        raise UsageError("'--last' is out of range", hint="give a time up to 168h, such as 1h")
    if call.is_dry_run:
        where = f"port {port}" if port else "a free port"
        dry_run.remark(
            call, f"Serve a page about the cluster '{call.name}' at {where} of 127.0.0.1."
        )
        return
    request = ViewRequest(port=port, span=span)
    call.run(serve_page, call.home, call.cluster, request, opens=opens, progress=call.progress)


async def serve_page(
    home: "Home", name: "ClusterName", request: "ViewRequest", *, opens: bool, progress: "Progress"
) -> None:
    """Serve until this is cancelled, and print where."""
    import asyncio

    from kwokctl.measure.record.run_clock import RunClock
    from kwokctl.view.serving.browser import opened_in_browser
    from kwokctl.view.view import viewing

    clock = RunClock(time.time)  # noqa: TID251 - the clock itself: it is passed on from here
    async with viewing(home, name, request, clock) as address:
        results.emit(f"Viewing '{name}' at {address}")
        if not opens:
            await asyncio.Event().wait()
        async with opened_in_browser(home.paths(name).root, address) as is_open:
            if not is_open:
                progress.warn("no browser could be opened here: open the address above in one")
            await asyncio.Event().wait()
