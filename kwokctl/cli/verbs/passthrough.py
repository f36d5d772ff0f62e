"""`kubectl`, `etcdctl` and `etcdutl`: the tools themselves, set up for a cluster, in place of this process."""

import os
import signal
import sys
from typing import TYPE_CHECKING

import typer

from kwokctl.cli import dry_run
from kwokctl.cli.invocation import Invocation
from kwokctl.cli.parsing import commands

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


_LOCAL = frozenset(("completion", "config", "help", "kustomize", "options", "plugin"))
"""Commands of kubectl and etcdctl that need no server."""
_ASK_THE_TOOL = frozenset(("-h", "--help", "--client", "--client=true"))


def register(app: typer.Typer) -> None:
    """Add the commands."""
    commands.raw_command(app, "kubectl", panel=commands.TOOLS)(kubectl)
    commands.raw_command(app, "etcdctl", panel=commands.TOOLS)(etcdctl)
    commands.raw_command(app, "etcdutl", panel=commands.TOOLS)(etcdutl)


def kubectl(call: Invocation, words: list[str]) -> None:
    """Run kubectl on a cluster; all arguments go to kubectl."""
    if call.is_dry_run:
        from kwokctl.clusters.dry_run.tool_steps import kubectl_steps

        dry_run.show(call, call.run(kubectl_steps, call.home, call.cluster, words))
        return
    from kwokctl.clusters.tools import kubectl_command

    argv, env = call.run(kubectl_command, call.home, call.cluster, dials=dials(words))
    become([*argv, *words], env)


def etcdctl(call: Invocation, words: list[str]) -> None:
    """Run etcdctl on a cluster's etcd; all arguments go to etcdctl."""
    if call.is_dry_run:
        from kwokctl.clusters.dry_run.tool_steps import etcdctl_steps

        dry_run.show(call, call.run(etcdctl_steps, call.home, call.cluster, words))
        return
    from kwokctl.clusters.tools import etcdctl_command

    argv, env = call.run(etcdctl_command, call.home, call.cluster, dials=dials(words))
    become([*argv, *words], env)


def etcdutl(call: Invocation, words: list[str]) -> None:
    """Run etcdutl, which works on files; all arguments go to etcdutl."""
    if call.is_dry_run:
        from kwokctl.clusters.dry_run.tool_steps import etcdutl_steps

        dry_run.show(call, call.run(etcdutl_steps, call.home, call.cluster, words))
        return
    from kwokctl.clusters.tools import etcdutl_command

    argv, env = call.run(etcdutl_command, call.home, call.cluster)
    become([*argv, *words], env)


def dials(words: "Sequence[str]") -> bool:
    """Return whether a tool connects to its server with these words, as far as they show."""
    command = next((word for word in words if not word.startswith("-")), "help")
    return command not in _LOCAL and not _ASK_THE_TOOL.intersection(words)


def become(argv: "Sequence[str]", env: "Mapping[str, str]") -> None:
    """Turn this process into another program: terminal, signals and exit code become its own."""
    sys.stdout.flush()
    sys.stderr.flush()
    # Python ignores this signal, and a program inherits what is ignored.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.execvpe(argv[0], list(argv), {**os.environ, **env})  # noqa: S606 - no shell is wanted
