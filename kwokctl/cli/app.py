"""Assembles the app: every command, in the order in which help shows them.

A command is loaded when it is looked up: its options take longer to read than most commands to run.
"""

import os
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any, ParamSpec, TypeVar

import typer
from typer.main import get_command, get_group

from kwokctl.cli.invocation import Invocation, Runner
from kwokctl.cli.output.console import Console
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.typer_parts import AnyCommand, ParserError
from kwokctl.cli.verbs.completion import VARIABLE
from kwokctl.errors import UsageError

P = ParamSpec("P")
T = TypeVar("T")
_TEXT = "Run real Kubernetes control planes with thousands of fake nodes."
MODULES: Mapping[str, tuple[str, ...]] = {
    "cluster": ("create", "delete", "start", "stop"),
    "get": ("get",),
    "inspection.status": ("status",),
    "inspection.doctor": ("doctor",),
    "scale": ("scale",),
    "load": ("load",),
    "plan": ("plan",),
    "faults.fault": ("fault",),
    "repair": ("repair",),
    "time_travel.snapshot": ("snapshot",),
    "measuring.measure": ("measure",),
    "view": ("view",),
    "inspection.logs": ("logs", "export"),
    "inspection.port_forward": ("port-forward",),
    "passthrough": ("kubectl", "etcdctl", "etcdutl"),
    "direct_etcd.etcd": ("etcd", "kectl"),
    "env": ("env",),
    "completion": ("completion",),
    "help_command": ("help",),
    "plumbing": ("plumbing",),
    "config": ("config",),
    "stage": ("stage",),
    "controller": ("controller",),
    "artifacts": ("artifacts",),
    "add_ons": ("addons",),
}
"""The modules of `kwokctl.cli.verbs`, and the commands that each registers, in the order of help."""


class _Commands(Mapping[str, AnyCommand]):
    """The commands by name."""

    def __init__(self) -> None:
        self._module_of = {name: module for module, names in MODULES.items() for name in names}
        self._loaded: dict[str, AnyCommand] = {}

    def __getitem__(self, name: str) -> AnyCommand:
        if name not in self._loaded:
            self._loaded |= registered(self._module_of[name])
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._module_of)

    def __len__(self) -> int:
        return len(self._module_of)


@cache
def build() -> Any:
    """Build the command tree; it is read, never changed."""
    tree: Any = get_command(commands.root(_TEXT))
    tree.commands = _Commands()
    return tree


def registered(module: str) -> dict[str, AnyCommand]:
    """Return the commands that a module of `kwokctl.cli.verbs` registers, by name."""
    app = commands.root(_TEXT)
    import_module(f"kwokctl.cli.verbs.{module}").register(app)
    return dict(get_group(app).commands)


def invoke(words: Sequence[str], console: Console, runner: Runner | None) -> int:
    """Read the words, run the command and return its exit code."""
    command = build()
    if VARIABLE in os.environ:
        from kwokctl.cli.answering import answer

        answer(command, words)
        return 0
    first = Invocation(console=console, run=runner or _runner(console))
    try:
        with command.make_context("kwokctl", list(words), obj=first) as ctx:
            command.invoke(ctx)
    except typer.Exit as e:
        return e.exit_code
    except ParserError as e:
        message: str = e.format_message()
        raise UsageError(message[:1].lower() + message[1:].rstrip(".")) from e
    return 0


def _runner(console: Console) -> Runner:
    def run(verb: Callable[P, Awaitable[T]], /, *args: P.args, **kwargs: P.kwargs) -> T:
        from kwokctl.cli import compose

        return compose.run_verb(console, verb, *args, **kwargs)

    return run
