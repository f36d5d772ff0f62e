"""The capacity that faults and reactions cost, by its causes. Pure.

The share is that of all devices and all of the time; of a fleet without devices, that of its nodes. A fault of a device costs that device
until pods are kept away from its node, and then all devices of the node.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from kwokctl.measure.scoring.incident import Incident
from kwokctl.measure.scoring.node_timeline import NodeTimeline

BROKEN, WAITING, DRAINING = "broken", "waiting for act", "draining"
REPAIRING, RETURNING, CORDONED = "repairing", "returning", "cordoned though good"
CAUSES = (BROKEN, WAITING, DRAINING, REPAIRING, RETURNING, CORDONED)
"""A fault that nothing shows yet; one that is shown and not yet acted upon, or drained and not yet in repair; pods leave; a repair is under
way; it is over, and the node not yet Ready; pods are kept away from a node without a fault."""


def lost_by_cause(
    nodes: Mapping[str, NodeTimeline], incidents: Iterable[Incident], begin: int, end: int
) -> Mapping[str, int]:
    """Return the lost nanoseconds of devices, or of nodes in a fleet without devices, by cause."""
    has_devices = any(node.devices for node in nodes.values())
    by_node: dict[str, list[Incident]] = {}
    for each in incidents:
        by_node.setdefault(each.node, []).append(each)
    lost: Counter[str] = Counter(dict.fromkeys(CAUSES, 0))
    for name, node in nodes.items():
        weight = node.devices if has_devices else 1
        _add(lost, node, by_node.get(name, ()), (begin, end), weight)
    return lost


def whole_capacity(nodes: Mapping[str, NodeTimeline], begin: int, end: int) -> int:
    """Return the nanoseconds that all devices, or all nodes, could have been used."""
    has_devices = any(node.devices for node in nodes.values())
    return sum(node.devices if has_devices else 1 for node in nodes.values()) * (end - begin)


def _add(
    lost: Counter[str],
    node: NodeTimeline,
    incidents: Sequence[Incident],
    span: tuple[int, int],
    weight: int,
) -> None:
    begin, end = span
    cuts = {begin, end}
    cuts |= {time for time, _ in node.states}
    for each in incidents:
        cuts |= {
            time
            for time in (each.began, each.shown, each.drained, each.fixed, each.back)
            if time is not None
        }
        cuts |= {time for span in each.repair_spans for time in span if time is not None}
    inside = sorted(cut for cut in cuts if begin <= cut <= end)
    for start, stop in pairwise(inside):
        found = _cause(node, incidents, start, weight)
        if found is not None:
            cause, share = found
            lost[cause] += share * (stop - start)


def _cause(
    node: NodeTimeline, incidents: Sequence[Incident], time: int, weight: int
) -> tuple[str, int] | None:
    """Return why capacity is lost from a time on, and how much of the node; None if none is."""
    state = node.at(time)
    is_kept = node.is_kept_away(state)
    bad = [each for each in incidents if each.is_open(time) and not each.is_benign]
    if any(each.is_repaired(time) for each in bad):
        return REPAIRING, weight
    if bad and is_kept:
        waits = all(each.drained is not None and each.drained <= time for each in bad)
        return (WAITING if waits else DRAINING), weight
    if bad:
        is_shown = any(each.shown is not None and each.shown <= time for each in bad)
        return (WAITING if is_shown else BROKEN), _hit(bad, weight)
    if is_kept:
        return CORDONED, weight
    over = [each for each in incidents if each.fixed is not None and each.fixed <= time]
    if any(each.back is None or time < each.back for each in over):
        return RETURNING, weight
    return None


def _hit(incidents: Sequence[Incident], weight: int) -> int:
    """Return how much of a node is of no use to pods that come: its hit devices, or all of it."""
    if any(not each.gpus for each in incidents):
        return weight
    return min(weight, len({gpu for each in incidents for gpu in each.gpus}))
