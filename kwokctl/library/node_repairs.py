"""The repairs of a cluster's nodes, for Python programs: what the commands of `kwokctl repair` do."""

from kwokctl.clusters.repairs.asking import RepairRequest, apply_policy, repair
from kwokctl.clusters.repairs.stored_repairs import RepairReport, repair_reports
from kwokctl.clusters.state.home import Home
from kwokctl.config.config_documents import only_document
from kwokctl.config.document_kinds import REPAIR_POLICY
from kwokctl.faults.repairs.repair_actions import Action
from kwokctl.library.calls import call
from kwokctl.library.documents import GivenDocument, documents_of
from kwokctl.model import ClusterName
from kwokctl.waits import USUAL

__tracebackhide__ = True
"""pytest shows the line of the test that has called, and none of these."""


class NodeRepairs:
    """Repairs nodes of one cluster; errors are those of the commands."""

    def __init__(self, home: Home, cluster: ClusterName) -> None:
        """Reach a cluster that exists."""
        self._home, self._cluster = home, cluster

    def start(
        self,
        node: str,
        action: Action,
        *,
        policy: str = "",
        takes: str | float = "",
        wait: float | None = USUAL,
    ) -> RepairReport:
        """Make a Repair of a node, and wait until it is over.

        `takes` is its length, as `90s` or in seconds; without it, that of the policy or of the action. `wait` are the seconds until it must
        be over; None does not wait. Raises NotFoundError for a node or a policy that does not exist, ConfigError if the controller
        refuses the repair, and TimedOutError if it is not over in time.
        """
        length = takes if isinstance(takes, str) else f"{takes:g}s"
        request = RepairRequest(node=node, action=action, policy=policy, takes=length, wait=wait)
        return call(repair(self._home, self._cluster, request))

    def status(self, *nodes: str) -> list[RepairReport]:
        """Return the Repairs of the named nodes, or all of them, in the order in which they were made."""
        return call(repair_reports(self._home, self._cluster, nodes))

    def policy(self, document: GivenDocument) -> str:
        """Give the cluster a RepairPolicy, a file or a mapping, in place of the one that has its name; return the name.

        Raises ConfigError, with the field, for one that makes no sense.
        """
        documents, source = documents_of(document)
        found = only_document(documents, REPAIR_POLICY, source)
        return call(apply_policy(self._home, self._cluster, found))

    def __repr__(self) -> str:
        return f"NodeRepairs({self._cluster!r})"
