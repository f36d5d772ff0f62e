"""Lets the commands of loads run only if the user has agreed: another person may have written the load."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kwokctl.cli import confirmation
from kwokctl.errors import UsageError

if TYPE_CHECKING:
    from kwokctl.cli.invocation import Invocation
    from kwokctl.load.load_documents import Load

_SHOWN = 3
"""Commands that a message lists."""


def demand(call: "Invocation", loads: Sequence["Load"], *, is_given: bool) -> None:
    """Ask on the terminal unless the user has agreed by an option; UsageError for no, and without a terminal."""
    from kwokctl.load.sending.load_hooks import commands

    found = [command for when in ("before", "after") for command in commands(loads, when)]
    if is_given or not found:
        return
    if confirmation.is_possible():
        for command in found:
            call.console.line(f"  {command}")
        if confirmation.confirmed(call.console, "Run these commands on this machine?"):
            return
    listed = ", ".join(f"'{command}'" for command in found[:_SHOWN])
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    raise UsageError(
        f"'spec.hooks' runs commands on this machine: {listed}{more}",
        hint="if you want that, add: --allow-hooks",
    )
