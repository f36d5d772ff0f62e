"""Reports the result of a command: a sentence for people, or a document for programs."""

import time

import msgspec

from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output import results


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a command."""

    message: str
    """A sentence about what exists now, and how many."""
    lead: str = ""
    """The line before the suggested next commands."""
    then: tuple[str, ...] = ()
    """Those commands."""
    remark: str = ""
    """A remark for people: the last lines."""
    cluster: str = ""
    changed: bool = True
    """Whether anything is different from before."""
    result: object = None
    """The command's own values, for a program."""
    is_partial: bool = False
    """Whether a part of what was asked for was refused: then the command fails."""


def conclude(call: Invocation, outcome: Outcome, output: str) -> None:
    """Print to standard error how it ended, or write it as `output` to standard output.

    Raises typer.Exit with 1 for a partial outcome. The document has the same keys for every command; docs/reference/results.md describes it.
    """
    if output:
        _emit(call, outcome, output)
    else:
        _print(call, outcome)
    if outcome.is_partial:
        import typer  # loaded by every command that gets here, and by no other

        raise typer.Exit(1)


def _print(call: Invocation, outcome: Outcome) -> None:
    lead = f". {outcome.lead}:" if outcome.then else ""
    call.console.line(outcome.message + lead)
    for command in outcome.then:
        call.console.line(f"  {command}", whole=True)
    if outcome.remark:
        call.console.line(outcome.remark)


def _emit(call: Invocation, outcome: Outcome, output: str) -> None:
    document = {
        "command": call.command,
        "cluster": outcome.cluster,
        "changed": outcome.changed,
        "message": outcome.message,
        "seconds": round(time.monotonic() - call.began, 3),
        "result": outcome.result or {},
    }
    results.emit_data(document, output)
