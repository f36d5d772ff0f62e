"""The zones of a cluster as the node lifecycle controller sees them, and how long pods stay on a silent node. Pure."""

from collections.abc import Collection, Iterable, Mapping

from kwokctl.faults.evictions.eviction_forecast import ZoneOutlook
from kwokctl.faults.targets.candidates import CandidateNode

_ZONES = "failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"
_REGIONS = "failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"


def zone_of(labels: Mapping[str, str]) -> str:
    """Return the zone of a node: region and zone with `/` between them, or the one of both that it has.

    As GetZoneKey in k8s.io/component-helpers does, which takes the old labels before the new ones.
    """
    region, zone = (
        next((labels[key] for key in keys if key in labels), "") for keys in (_REGIONS, _ZONES)
    )
    return "/".join(filter(None, (region, zone)))


def outlooks(
    candidates: Iterable[CandidateNode], silent: Collection[str]
) -> tuple[ZoneOutlook, ...]:
    """Return the zones of a cluster, by name, when the nodes with some names fall silent."""
    members: dict[str, list[CandidateNode]] = {}
    for node in candidates:
        members.setdefault(zone_of(node.labels), []).append(node)
    return tuple(
        ZoneOutlook(
            name=name,
            nodes=len(nodes),
            silent=[[pod.stay for pod in node.pods] for node in nodes if node.name in silent],
            unready=sum(not node.is_ready and node.name not in silent for node in nodes),
        )
        for name, nodes in sorted(members.items())
    )
