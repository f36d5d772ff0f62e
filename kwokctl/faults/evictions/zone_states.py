"""The disruption of a zone, and the rate at which its nodes are tainted then. Pure.

Source: ComputeZoneState, handleDisruption and setLimiterInZone in pkg/controller/nodelifecycle of Kubernetes 1.36.
"""

from collections.abc import Iterable, Mapping
from typing import Literal

from kwokctl.faults.evictions.eviction_flags import EvictionFlags
from kwokctl.faults.evictions.taint_queue import interval

ZoneState = Literal["normal", "partial", "full", "over"]
"""In this order: few nodes are silent; most are; all are; all nodes of all zones are."""
_LEAST = 3
"""With fewer nodes that are not Ready a zone is normal, whatever part of it they are."""


def zone_state(nodes: int, unready: int, flags: EvictionFlags) -> ZoneState:
    """Return the state of a zone by itself: never `over`."""
    if nodes and unready == nodes:
        return "full"
    if unready >= _LEAST and unready / nodes >= flags.unhealthy:
        return "partial"
    return "normal"


def taint_rate(state: ZoneState, nodes: int, flags: EvictionFlags) -> float:
    """Return how many nodes of a zone are tainted a second."""
    if state == "over":
        return 0.0
    if state == "partial":
        return flags.reduced_rate if nodes > flags.large_zone else 0.0
    return flags.rate


def states_together(states: Iterable[ZoneState]) -> list[ZoneState]:
    """Return the states of all zones of a cluster: `over` for each, if all of them are `full`."""
    found = [*states]
    return ["over"] * len(found) if all(each == "full" for each in found) else found


def words(state: ZoneState, nodes: int, flags: EvictionFlags) -> str:
    """Return what a state means for a zone, for people."""
    rate = taint_rate(state, nodes, flags)
    pace = f"a node is tainted every {interval(rate):g}s" if rate else "no further node is tainted"
    size = "more than" if nodes > flags.large_zone else "up to"
    part = f"{flags.unhealthy:.0%}"
    why: Mapping[ZoneState, str] = {
        "normal": f"less than {part} of the zone is not Ready, or fewer than {_LEAST} nodes",
        "partial": f"{part} or more of a zone of {size} {flags.large_zone} nodes is not Ready",
        "full": "no node of the zone is Ready, and others are",
        "over": "no node of any zone is Ready, and taints are taken back",
    }
    return f"{why[state]}: {pace}"
