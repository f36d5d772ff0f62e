"""`port-forward`: a port of this machine that leads to a component."""

from typing import TYPE_CHECKING, Annotated

import typer

from kwokctl.cli import dry_run
from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output import results
from kwokctl.cli.parsing import commands
from kwokctl.errors import UsageError

if TYPE_CHECKING:
    from kwokctl.clusters.state.home import Home
    from kwokctl.model import ClusterName


def register(app: typer.Typer) -> None:
    """Add the command."""
    examples = (
        "kwokctl port-forward kube-apiserver 8443:https",
        "kwokctl port-forward etcd 2379:2379",
    )
    register = commands.command(app, "port-forward", panel=commands.CLUSTERS, examples=examples)
    register(port_forward)


def port_forward(
    call: Invocation,
    *,
    component: Annotated[
        str, typer.Argument(metavar="COMPONENT", help="A component of the cluster")
    ],
    ports: Annotated[
        str,
        typer.Argument(
            metavar="LOCAL:REMOTE",
            help="Local port (0 for a free one), and the name or number of the component's port",
        ),
    ],
) -> None:
    """Forward a port of this machine to a component.

    It listens on the loopback address, until Ctrl-C. The first line of the output names both ports.
    """
    local, remote = _read(ports)
    if call.is_dry_run:
        from kwokctl.clusters.inspection.forwarding import remote_port

        number = call.run(remote_port, call.home, call.cluster, component, remote)
        here = f"port {local}" if local else "a free port"
        dry_run.remark(call, f"Forward {here} of 127.0.0.1 to port {number} of '{component}'.")
        return
    call.run(forward, call.home, call.cluster, component, local=local, remote=remote)


async def forward(
    home: "Home", name: "ClusterName", component: str, *, local: int, remote: str
) -> None:
    """Forward until this is cancelled, and print where."""
    import asyncio

    from kwokctl.clusters.inspection.forwarding import forwarding

    async with forwarding(home, name, component, local=local, remote=remote) as forwarded:
        results.emit(f"Forwarding from 127.0.0.1:{forwarded.local} -> {forwarded.remote}")
        await asyncio.Event().wait()


def _read(ports: str) -> tuple[int, str]:
    """Read `LOCAL:REMOTE`."""
    local, colon, remote = ports.partition(":")
    number = local or "0"
    if not (colon and remote and number.isascii() and number.isdigit() and int(number) < 1 << 16):
        raise UsageError(
            f"'{ports}' is not LOCAL:REMOTE",
            hint="give two ports, such as 8443:https, 8443:6443, or 0:https for a free local port",
        )
    return int(number), remote
