"""The nodes that came after the selection of a fault, and that it hits because it follows."""

from collections.abc import Iterable, Iterator

from kwokctl.controller.faults.injecting import Injecting
from kwokctl.controller.known_faults.open_faults import OpenFaults
from kwokctl.controller.nodes.node_registry import ManagedNode, NodeRegistry
from kwokctl.faults.objects.fault_schema import StoredFault
from kwokctl.faults.objects.unit_rows import UnitRow
from kwokctl.faults.targets.newcomers import came_later, is_complete


class Following:
    """Finds new nodes, and the rows of those that are hit."""

    def __init__(self, faults: OpenFaults, nodes: NodeRegistry, injecting: Injecting) -> None:
        """Follow `faults` on `nodes`."""
        self._faults = faults
        self._nodes = nodes
        self._injecting = injecting

    def faults_for(self, node: ManagedNode) -> Iterator[StoredFault]:
        """Yield the open faults that may hit a node which came later."""
        return (fault for fault in self._faults.followers() if self._may_hit(fault, node))

    def nodes_for(self, fault: StoredFault) -> frozenset[str]:
        """Return the names of all nodes that came later, and that a fault may hit."""
        if not fault.spec.target.follow:
            return frozenset()
        return frozenset(node.name for node in self._nodes if self._may_hit(fault, node))

    async def rows(self, fault: StoredFault, names: Iterable[str]) -> list[UnitRow]:
        """Return new rows for those of the named nodes that a fault hits; its definition is known."""
        known, added = {row.unit for row in self._faults.units(fault.metadata.uid)}, []
        for name in sorted(names):
            if is_complete(fault.spec, len(known)):
                break
            for row in await self._injecting.add(fault, name):
                if row.unit not in known:
                    known.add(row.unit)
                    added.append(row)
        return added

    def _may_hit(self, fault: StoredFault, node: ManagedNode) -> bool:
        is_hit = fault.metadata.uid in self._faults.of_node(node.uid)
        return not is_hit and came_later(node.created, fault.status)
