"""`completion`: the script with which a shell completes kwokctl's words.

A script runs kwokctl with the words so far, the last of them begun or empty, and `VARIABLE` set;
`answer` in `cli/answering.py` prints the possible words.
"""

from typing import Annotated

import typer

from kwokctl import assets
from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output import results
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.option_values import one_of

VARIABLE = "_KWOKCTL_COMPLETE"
"""The variable that requests completion instead of running a command."""
_SCRIPTS = {"bash": "bash", "zsh": "zsh", "fish": "fish", "powershell": "ps1"}
"""The endings of the scripts' names, by shell."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    examples = (
        "source <(kwokctl completion bash)",
        "source <(kwokctl completion zsh)",
        "kwokctl completion fish | source",
    )
    commands.command(app, "completion", panel=commands.TOOLS, examples=examples)(completion)


def completion(
    _call: Invocation,
    *,
    shell: Annotated[
        str,
        typer.Argument(
            metavar="SHELL",
            help=f"One of {', '.join(_SCRIPTS)}",
            parser=one_of("SHELL", *_SCRIPTS),
        ),
    ],
) -> None:
    """Print the script with which a shell completes commands."""
    results.emit(assets.text(f"completion/kwokctl.{_SCRIPTS[shell]}"))
