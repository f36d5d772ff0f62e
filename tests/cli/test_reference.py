"""The pages that are made from the commands themselves."""

import shlex
import subprocess
import sys
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from kwokctl.cli import app
from kwokctl.cli.parsing import grammar
from kwokctl.cli.parsing.command_words import rewrite, rewrite_leading
from kwokctl.components.catalog import usual_options
from kwokctl.config.options import spellings

ROOT = Path(__file__).parents[2]
_PROGRAM = """
from docs import generate_cli
print("\\n".join(generate_cli.pages().values()))
"""


def pages(columns: str) -> str:
    """Return the pages as they are made in a terminal of this width."""
    program = [sys.executable, "-c", _PROGRAM]
    return subprocess.run(
        program, cwd=ROOT, env={"COLUMNS": columns}, capture_output=True, text=True, check=True
    ).stdout


@pytest.fixture(scope="module")
def wide() -> str:
    return pages("200")


def test_the_pages_do_not_depend_on_the_terminal(wide: str) -> None:
    assert pages("40") == wide


def test_every_way_to_give_an_option_is_on_a_page(wide: str) -> None:
    for spelling in spellings(usual_options()):
        for written in (spelling.env, spelling.key):
            assert not written or f"`{written}`" in wide
        name = spelling.flag.removeprefix("--")
        assert f"`--{name}" in wide or f"`--[no-]{name}" in wide


@pytest.mark.parametrize(
    "command", ["create cluster", "get kubeconfig", "scale", "snapshot restore", "kubectl"]
)
def test_every_command_has_its_page(wide: str, command: str) -> None:
    file = f"{command.replace(' ', '-')}.md"
    assert f"| [`kwokctl {command}`](cli/{file}) | " in wide
    assert f"\n# `kwokctl {command}`\n" in wide


def test_no_table_has_a_row_of_another_width(wide: str) -> None:
    widths: list[int] = []
    for line in wide.splitlines():
        if not line.startswith("|"):
            widths.clear()
            continue
        widths.append(line.replace("\\|", "").count("|"))
        assert widths[0] == widths[-1], line


def examples(command: Any) -> Iterator[str]:
    """Yield the commands with which the help of all commands ends."""
    for below in getattr(command, "commands", {}).values():
        yield from examples(below)
    yield from grammar.examples(command)


@pytest.mark.parametrize("example", list(examples(app.build())))
def test_the_examples_of_the_help_are_commands_that_there_are(example: str) -> None:
    *_, call = example.rpartition("kwokctl ")
    lexer = shlex.shlex(call, posix=True, punctuation_chars=")|")
    lexer.whitespace_split = True
    words = list(takewhile(lambda word: word[:1] not in {")", "|", ">"}, lexer))
    command, ctx = app.build(), "kwokctl"
    while hasattr(command, "commands"):
        if isinstance(command, grammar.UsualGroup) and words[0] not in command.commands:
            words.insert(0, command.of_options if words[0].startswith("-") else command.of_words)
        _, words = rewrite_leading(words, command.params, ctx)
        ctx += f" {words[0]}"
        command = command.commands[words.pop(0)]
    rewrite(words, command.params, ctx)
