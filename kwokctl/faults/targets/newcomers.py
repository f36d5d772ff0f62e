"""The units of nodes that came after the selection of a fault that follows, one node at a time. Pure."""

from collections.abc import Sequence

from kwokctl.expr.duration import parse_time
from kwokctl.faults.classes.catalogue import FaultClass
from kwokctl.faults.objects.fault_schema import FaultSpec, FaultStatus
from kwokctl.faults.objects.unit_rows import FaultUnit
from kwokctl.faults.targets.candidates import CandidateNode
from kwokctl.faults.targets.target_draws import target_stream
from kwokctl.faults.targets.target_selection import select
from kwokctl.replacing import replace

_SLACK = 2.0
"""Seconds before the start of a fault: a node that was created after that counts as one that came later, because creation
times are whole seconds, and nodes are listed a moment before the start. A node that was listed, too, is hit in the same way."""
_MOST = 100.0


def came_later(created: str, status: FaultStatus) -> bool:
    """Return whether a node with this creation time came after the selection of a fault."""
    if not created or not status.injected_at:
        return False
    return parse_time(created) + _SLACK > parse_time(status.injected_at)


def is_complete(spec: FaultSpec, units: int) -> bool:
    """Return whether a fault with this number of units hits no more nodes: it has as many as it wants."""
    return spec.target.count is not None and units >= spec.target.count


def units_of_newcomer(
    found: FaultClass, spec: FaultSpec, node: CandidateNode
) -> Sequence[FaultUnit]:
    """Return the units of a node that came later which a fault hits.

    It does not depend on other nodes: of a target with `percent`, each node, or each unit of the fleet, is hit with that
    probability.
    """
    target = spec.target
    if target.nodes and node.name not in target.nodes:
        return ()
    if target.percent is not None and not _is_drawn(found, spec, node, target.percent):
        return ()
    alone = replace(target, nodes=(node.name,) if target.nodes else (), count=None, percent=None)
    return select(found, replace(spec, target=alone), [node]).units


def _is_drawn(found: FaultClass, spec: FaultSpec, node: CandidateNode, percent: float) -> bool:
    level = found.spec.unit
    name = node.name if level is None else node.place.get(level, node.name)
    return target_stream(spec.seed, found.name).below(name).at(0) * _MOST < percent
