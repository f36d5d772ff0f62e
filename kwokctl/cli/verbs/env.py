"""`env`: the variables with which other programs find a cluster, as a shell sets them."""

import os
import shlex
from pathlib import PurePath
from typing import Annotated

import typer

from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output import results
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.option_values import one_of
from kwokctl.cli.parsing.shared_options import DataOutput

_SHELLS = ("bash", "zsh", "fish")


def register(app: typer.Typer) -> None:
    """Add the command."""
    examples = (
        'eval "$(kwokctl env)"',
        "kwokctl --name mine env --shell fish | source",
        "kwokctl env -o json",
    )
    commands.command(app, "env", panel=commands.TOOLS, examples=examples)(env)


def export(shell: str, name: str, value: str) -> str:
    """Return the line with which a shell exports a variable."""
    if shell == "fish":
        # https://fishshell.com/docs/current/language.html#quotes
        quoted = value.replace("\\", "\\\\").replace("'", "\\'")
        return f"set -gx {name} '{quoted}'"
    return f"export {name}={shlex.quote(value)}"


def env(
    call: Invocation,
    *,
    shell: Annotated[
        str,
        typer.Option(
            "--shell",
            metavar="SHELL",
            help="Shell to write for: bash, zsh or fish [default: that of $SHELL, else bash]",
            parser=one_of("--shell", "", *_SHELLS),
        ),
    ] = "",
    output: DataOutput = "",
) -> None:
    """Print the variables with which kubectl and etcdctl use a cluster.

    They are KUBECONFIG and ETCDCTL_ENDPOINTS, _CACERT, _CERT and _KEY. json and yaml give a mapping
    of names to values.
    """
    from kwokctl.clusters.tools import environment

    found = environment(call.home, call.cluster)
    if output:
        results.emit_data(found, output)
        return
    usual = PurePath(os.environ.get("SHELL", "")).name
    shell = shell or (usual if usual in _SHELLS else "bash")
    results.emit("\n".join(export(shell, name, value) for name, value in found.items()))
