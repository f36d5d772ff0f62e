"""Answers a shell that completes the words of a command line.

The answer is `files` on a line, or `words` and then a line for each word: the word, a tab, its meaning.
"""

import os
import shutil
from collections.abc import Sequence
from typing import Any

from kwokctl.cli.completing.completion import VARIABLE
from kwokctl.cli.completing.offers import Files, Tool, offers
from kwokctl.cli.output import results
from kwokctl.cli.parsing import complete


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
