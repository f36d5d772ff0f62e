"""`completion`: the script that makes a shell complete our words."""

from typing import Annotated

import typer

from kwokctl.cli import commands, results
from kwokctl.cli.invocation import Invocation
from kwokctl.cli.values import one_of

VARIABLE = "_KWOKCTL_COMPLETE"
"""The variable through which a shell's script asks for completions."""
_SHELLS = ("bash", "zsh", "fish", "powershell")


def register(app: typer.Typer) -> None:
    """Add the command."""
    commands.command(app, "completion", panel=commands.TOOLS)(completion)


def completion(
    _call: Invocation,
    *,
    shell: Annotated[
        str,
        typer.Argument(
            metavar="SHELL",
            help=f"One of {', '.join(_SHELLS)}",
            parser=one_of("SHELL", *_SHELLS),
        ),
    ],
) -> None:
    """Print the script that completes kwokctl's words in a shell.

    For bash: source <(kwokctl completion bash)
    """
    from typer._completion_shared import get_completion_script

    script = get_completion_script(prog_name="kwokctl", complete_var=VARIABLE, shell=shell)
    results.emit(script.lstrip("\n"))
