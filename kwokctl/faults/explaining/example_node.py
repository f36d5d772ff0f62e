"""A node with which a class of faults is explained: 8 H100, without faults. Pure."""

from collections.abc import Iterable

from kwokctl.faults.classes.catalogue import FaultDialect
from kwokctl.faults.classes.healthy_conditions import healthy_conditions
from kwokctl.fleet.devices import GPU
from kwokctl.json_value import Json

_SINCE = "2026-01-01T00:00:00Z"
_TIMES = {"lastHeartbeatTime": _SINCE, "lastTransitionTime": _SINCE}
_LABELS = {
    "nvidia.com/gpu.count": "8",
    "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
    "nvidia.com/gpu.memory": "81559",
    "nvidia.com/gpu.family": "hopper",
}


def example_node(dialects: Iterable[FaultDialect]) -> Json:
    """Return the node, with the conditions that agents of these dialects set on a healthy one."""
    return {
        "metadata": {"name": "node", "labels": _LABELS},
        "spec": {},
        "status": {
            "capacity": {"cpu": "224", GPU: "8"},
            "allocatable": {"cpu": "224", GPU: "8"},
            "conditions": [
                {**each, **_TIMES}
                for dialect in dialects
                for each in healthy_conditions(dialect.spec)
            ],
        },
    }
