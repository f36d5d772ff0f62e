"""Reports the result of a command: a sentence for people, or a document for programs."""

import time
from typing import TYPE_CHECKING

import msgspec

from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output import results

if TYPE_CHECKING:
    from kwokctl.clusters.delete import Deleted


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
    call.console.line(outcome.message)
    if outcome.then:
        call.console.line(f"{outcome.lead}:")
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


def conclude_all(call: Invocation, deleted: "Deleted", output: str) -> None:
    """Report which clusters are gone and which were not deleted, and raise the errors."""
    names = ", ".join(f"'{name}'" for name in deleted.names)
    if not deleted.names:
        message = "no cluster was deleted" if deleted.failures else "there is no cluster to delete"
    else:
        message = (
            f"clusters {names} are deleted"
            if len(deleted.names) > 1
            else f"cluster {names} is deleted"
        )
    outcome = Outcome(
        message=message,
        changed=bool(deleted.names),
        result={"deleted": deleted.names, "leftAlone": deleted.left},
    )
    conclude(call, outcome, output)
    if deleted.left:
        others = ", ".join(f"'{other}'" for other in deleted.left)
        call.console.warn(f"not deleted, because the original kwokctl made them: {others}")
        call.console.line("delete one with 'kwokctl --name NAME delete cluster --force'")
    if deleted.failures:
        raise ExceptionGroup("not all clusters are deleted", list(deleted.failures.values()))
