"""Says which clusters `delete cluster --all` has deleted."""

from typing import TYPE_CHECKING

from kwokctl.cli.conclusion import Outcome, conclude
from kwokctl.cli.invocation import Invocation

if TYPE_CHECKING:
    from kwokctl.clusters.delete import Deleted


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
