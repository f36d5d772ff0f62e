"""`help`: the help of a command, as `--help` behind it prints it."""

from typing import Any

import typer

from kwokctl.cli.output import results
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.grammar import RawCommand, show_all
from kwokctl.errors import UsageError

NAME = "help"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(NAME, cls=RawCommand, rich_help_panel=commands.TOOLS)(show)


def show(ctx: typer.Context) -> None:
    """Print the help of a command: kwokctl help create cluster."""
    here: Any = ctx.find_root()
    for word in ctx.args:
        if word in ("-h", "--help"):
            continue
        if word == "all" and getattr(here.command, "common", None):
            show_all(here)
            continue
        if not hasattr(here.command, "commands"):
            raise UsageError(
                f"'{here.command_path}' has no commands",
                hint=f"see 'kwokctl help {here.command_path.partition(' ')[2]}'",
            )
        name, command, _ = here.command.resolve_command(here, [word])
        here = typer.Context(command, info_name=name, parent=here)
    results.emit(here.get_help())
