"""Nodes with GPUs, and pods that have some of them, as the kubelet server sees them."""

from typing import Any

from kwokctl.fleet.allocations import Allocation
from kwokctl.fleet.devices import GPU, device_ids
from kwokctl.kubelet.fleet.views import ContainerView, NodeView, PodView
from tests.support.usage_fleet import node, pod, running

H100 = {
    "nvidia.com/gpu.count": "8",
    "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
    "nvidia.com/gpu.memory": "81559",
    "nvidia.com/gpu.family": "hopper",
}
"""The labels of a node with 8 H100."""


def gpu_node(name: str = "a", **more: Any) -> NodeView:
    """Return a node with 8 H100."""
    return node(name, **{"labels": H100, "capacity": {"cpu": "224", GPU: "8"}} | more)


def gpu_pod(
    name: str = "train",
    *places: int,
    on: NodeView | None = None,
    resource: str = GPU,
    container: ContainerView | None = None,
    **more: Any,
) -> PodView:
    """Return a pod whose container has the devices at these places of its node's list."""
    its_node, its_container = on or gpu_node(), container or running()
    counts = {name: int(n) for name, n in its_node.capacity.items() if "/" in name}
    ids = device_ids(its_node.name, its_node.labels, counts, resource)
    held = tuple(
        Allocation(container=its_container.name, resource=resource, device_id=ids[place])
        for place in places
    )
    return pod(name, its_container, node=its_node.name, devices=held, **more)
