"""`completion`: the script that makes a shell complete kwokctl's words, and the answers it gets.

A script runs kwokctl with the words so far, the last of them begun or empty, and `VARIABLE` set. The
answer is `files` on a line, or `words` and then a line for each word: the word, a tab, its meaning.
"""

import os
import shutil
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from kwokctl import assets
from kwokctl.cli.completing.offers import Files, Tool, offers
from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output import results
from kwokctl.cli.parsing import commands, complete
from kwokctl.cli.parsing.values import one_of

VARIABLE = "_KWOKCTL_COMPLETE"
"""The variable that tells completion from a command."""
_SCRIPTS = {"bash": "bash", "zsh": "zsh", "fish": "fish", "powershell": "ps1"}
"""How the script of a shell ends."""


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
    """Print the script that completes kwokctl's commands and options in a shell."""
    results.emit(assets.text(f"completion/kwokctl.{_SCRIPTS[shell]}"))


def answer(tree: Any, words: Sequence[str]) -> None:
    """Print what can stand in place of the last word."""
    found = offers(tree, words)
    match found:
        case Files():
            results.emit("files")
        case Tool():
            _pass_on(found)
        case _:
            lines = (f"{offer.word}\t{offer.text}".rstrip() for offer in found)
            results.emit("\n".join(["words", *lines]))


def _pass_on(tool: Tool) -> None:
    """Let a tool answer itself, as every program does that is made with Cobra.

    https://github.com/spf13/cobra/blob/main/site/content/completions/_index.md
    """
    program = shutil.which(tool.name)
    if program is None:
        return
    from kwokctl.cli.verbs.passthrough import become

    results.emit("words")
    os.environ.pop(VARIABLE)
    become([program, "__complete", *tool.words], {"KUBECONFIG": complete.kubeconfig(tool.cluster)})
