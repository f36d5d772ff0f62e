"""`plumbing`: what scripts of a dry run call; hidden, since it is not for people."""

from collections.abc import Awaitable, Callable

import typer

from kwokctl.cli.invocation import Invocation
from kwokctl.cli.parsing import commands
from kwokctl.errors import UsageError


def register(app: typer.Typer) -> None:
    """Add the command, hidden from the help."""
    commands.raw_command(app, "plumbing", hidden=True)(plumbing)


def plumbing(call: Invocation, words: list[str]) -> None:
    """Do the parts of a script that a shell cannot do: secrets, kubeconfigs, the store, logs."""
    from kwokctl.clusters.dry_run import plumbing as parts
    from kwokctl.clusters.inspection.export_logs import export_part

    known: dict[tuple[str, int], Callable[..., Awaitable[None]]] = {
        ("credentials", 0): parts.make_credentials,
        ("add-context", 1): parts.add_context,
        ("remove-context", 1): parts.drop_context,
        ("store", 5): parts.store_program,
        ("export", 2): export_part,
    }
    name, *others = words or [""]
    part = known.get((name, len(others)))
    if part is None:
        raise UsageError(
            "'plumbing' is for the scripts that '--dry-run' prints",
            hint="let a shell run a script of this version of kwokctl",
        )
    call.run(part, call.home, call.cluster, *others)
