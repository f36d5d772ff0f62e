"""Assembles the app: every command, in the order in which help shows them."""

import os
from collections.abc import Sequence
from functools import cache
from typing import Any

import typer
from typer.main import get_command

from kwokctl.cli.invocation import Invocation, Runner
from kwokctl.cli.output.console import Console
from kwokctl.cli.parsing import commands
from kwokctl.cli.verbs import (
    artifacts,
    cluster,
    completion,
    env,
    get,
    help_command,
    logs,
    passthrough,
    plan,
    scale,
    snapshot,
    stage,
    unserved,
)
from kwokctl.errors import UsageError

_TEXT = "Run real Kubernetes control planes with thousands of fake nodes on this machine."
_MODULES = (
    cluster, get, scale, plan, snapshot, logs,
    passthrough, env, stage, artifacts, completion, help_command, unserved,
)  # fmt: skip
_ORDER = ("create", "delete", "start", "stop", "get", "scale", "plan", "snapshot", "logs")
"""The commands that help shows first, in the order in which users need them."""
_ParserError: Any = typer.BadParameter.__mro__[1]
"""The parser's own error, reached through a subclass: Typer has moved it between modules."""


@cache
def build() -> Any:
    """Build the command tree; it is read, never changed."""
    app = commands.root(_TEXT)
    for module in _MODULES:
        module.register(app)
    tree: Any = get_command(app)
    rest = [name for name in tree.commands if name not in _ORDER]
    tree.commands = {name: tree.commands[name] for name in (*_ORDER, *rest)}
    return tree


def invoke(words: Sequence[str], console: Console, runner: Runner | None) -> int:
    """Read the words, run the command and return its exit code."""
    command = build()
    if completion.VARIABLE in os.environ:
        from kwokctl.cli.answering import answer

        answer(command, words)
        return 0
    first = Invocation(console=console, run=runner or _runner(console))
    try:
        with command.make_context("kwokctl", list(words), obj=first) as ctx:
            command.invoke(ctx)
    except typer.Exit as e:
        return e.exit_code
    except _ParserError as e:
        message: str = e.format_message()
        raise UsageError(message[:1].lower() + message[1:].rstrip(".")) from e
    return 0


def _runner(console: Console) -> Runner:
    def run(*args: Any, **kwargs: Any) -> Any:
        from kwokctl.cli import compose

        return compose.run_verb(console, *args, **kwargs)

    return run
