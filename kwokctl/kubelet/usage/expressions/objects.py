"""Nodes, pods and containers as expressions see them: the fields that are kept of them."""

from collections.abc import Collection, Mapping

from kwokctl.expr.cel.environments import Measured, MeasuredObject
from kwokctl.expr.duration import format_time
from kwokctl.json_value import Json
from kwokctl.kubelet.fleet.views import ContainerView, NodeView, PodView

KEPT: Mapping[str, Collection[str]] = {
    "Container": ("name", "resources"),
    "Node": ("metadata", "status"),
    "NodeStatus": ("addresses", "capacity"),
    "ObjectMeta": (
        "annotations", "creationTimestamp", "labels", "name", "namespace", "uid",
    ),
    "Pod": ("metadata", "spec", "status"),
    "PodSpec": ("containers", "initContainers", "nodeName"),
    "PodStatus": ("phase", "startTime"),
    "ResourceRequirements": ("requests",),
}  # fmt: skip
"""The known fields of structs that are only kept in part."""


def node_object(node: NodeView, measured: Measured) -> MeasuredObject:
    """Return a node as the API has it."""
    addresses = [{"type": "InternalIP", "address": address} for address in node.addresses]
    return MeasuredObject(
        {
            "metadata": _metadata(node),
            "status": {"capacity": node.capacity, "addresses": addresses},
        },
        measured,
    )


def pod_object(pod: PodView, measured: Measured) -> MeasuredObject:
    """Return a pod as the API has it."""
    usual = [each for each in pod.containers if not (each.is_init or each.is_ephemeral)]
    return MeasuredObject(
        {
            "metadata": {"namespace": pod.namespace, **_metadata(pod)},
            "spec": {
                "nodeName": pod.node,
                "containers": [container_object(each) for each in usual],
                "initContainers": [container_object(c) for c in pod.containers if c.is_init],
            },
            "status": {"phase": pod.phase, **_time("startTime", pod.start_time)},
        },
        measured,
    )


def container_object(container: ContainerView) -> Mapping[str, Json]:
    """Return a container as the API has it."""
    return {"name": container.name, "resources": {"requests": container.requests}}


def _metadata(of: NodeView | PodView) -> dict[str, Json]:
    return {
        "name": of.name,
        "uid": of.uid,
        "labels": of.labels,
        "annotations": of.annotations,
        **_time("creationTimestamp", of.created),
    }


def _time(field: str, seconds: float) -> dict[str, str]:
    return {field: format_time(seconds)} if seconds else {}
