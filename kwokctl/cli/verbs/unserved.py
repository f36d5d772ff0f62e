"""Commands of the original that are refused by name because they are not supported yet."""

from collections.abc import Callable

import typer

from kwokctl.cli.invocation import Invocation
from kwokctl.cli.parsing import commands
from kwokctl.errors import NotServedError

_INSTEAD = {
    "kectl": "'kwokctl etcdctl' reads and writes etcd",
}


def register(app: typer.Typer) -> None:
    """Add the commands, hidden from the help."""
    for name, instead in _INSTEAD.items():
        commands.raw_command(app, name, hidden=True)(refusing(name, instead))


def refusing(name: str, instead: str) -> Callable[[Invocation, list[str]], None]:
    """Make the command that refuses all arguments and names what to use meanwhile."""

    def refuse(_call: Invocation, _words: list[str]) -> None:
        """Not supported yet."""
        raise NotServedError(f"'kwokctl {name}' is not supported yet", hint=instead)

    return refuse
