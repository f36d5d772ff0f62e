"""The devices of the fleet as gauges: which nodes have them, and which they offer.

Nothing else in a cluster says it to Prometheus: its components count pods, and dcgm-exporter knows nothing of allocatable.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from kwokctl.embedded.process_metrics import Labels
from kwokctl.fleet.tree import SHAPE
from kwokctl.kubelet.fleet.views import NodeView

DEVICES = "kwok_kubelet_devices"


def device_gauges(nodes: Iterable[NodeView]) -> Mapping[tuple[str, Labels], float]:
    """Return the number of devices by shape, by resource, and by whether they are allocatable."""
    found: Counter[tuple[str, Labels]] = Counter()
    for node in nodes:
        if not node.device_counts:
            continue
        shape = node.labels.get(SHAPE, "")
        for resource, counts in node.device_counts.items():
            of = (("shape", shape), ("resource", resource))
            found[DEVICES, (*of, ("state", "capacity"))] += counts.capacity
            found[DEVICES, (*of, ("state", "allocatable"))] += counts.allocatable
    return found
