"""The devices of the fleet as gauges: which nodes have them, and which they offer.

Nothing else in a cluster says it to Prometheus: its components count pods, and dcgm-exporter knows nothing of allocatable.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from kwokctl.embedded.process_metrics import Labels
from kwokctl.fleet.tree import SHAPE, DeviceCounts
from kwokctl.kubelet.fleet.views import NodeView

DEVICES = "kwok_kubelet_devices"


def device_gauges(nodes: Iterable[NodeView]) -> Mapping[tuple[str, Labels], float]:
    """Return the number of devices by shape, by resource, and by whether they are allocatable."""
    totals: defaultdict[tuple[str, str], DeviceCounts] = defaultdict(DeviceCounts)
    for node in nodes:
        if not node.device_counts:
            continue
        shape = node.labels.get(SHAPE, "")
        for resource, counts in node.device_counts.items():
            total = totals[shape, resource]
            total.capacity += counts.capacity
            total.allocatable += counts.allocatable
    return {
        (DEVICES, (("shape", shape), ("resource", resource), ("state", state))): number
        for (shape, resource), total in totals.items()
        for state, number in (("capacity", total.capacity), ("allocatable", total.allocatable))
    }
