"""Decides on which node each pod of a set lies, if that is not left to the scheduler."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kwokctl.clusters.scaling.mould import Mould
from kwokctl.clusters.scaling.reading import Reader
from kwokctl.clusters.scaling.request import ScaleRequest
from kwokctl.errors import NotFoundError, UsageError
from kwokctl.kube.resource import NODES, PODS, Resource

Json = Any


@dataclass(frozen=True, slots=True)
class Placing:
    """How the objects of a set are rendered, and where pods lie."""

    stamp: Callable[[int], dict[str, Json]]
    """Gives the object with a serial."""
    node_of: Callable[[int], str] | None
    """Gives the node of the pod with a serial; None if the objects are on no node yet."""


async def placing_of(
    request: ScaleRequest, mould: Mould, resource: Resource, reader: Reader
) -> Placing:
    """Place pods where the request says, else where their template says.

    Raises UsageError for nodes that are asked for objects that are no pods, and NotFoundError if
    there are no such nodes.
    """
    if request.on_nodes is not None:
        return await _spread(request.on_nodes, mould, resource, reader)
    node = _node_of(mould.stamp(0))
    if resource != PODS or not node:
        return Placing(mould.stamp, None)
    pattern = mould.pattern()
    if pattern is None:
        return Placing(mould.stamp, lambda serial: _node_of(mould.stamp(serial)))
    return Placing(mould.stamp, pattern.slots.get(("spec", "nodeName"), lambda _: node))


async def _spread(selector: str, mould: Mould, resource: Resource, reader: Reader) -> Placing:
    if resource != PODS:
        raise UsageError(f"--on-nodes is for pods, not for {resource.plural}")
    nodes = sorted([known.name async for known in reader.select(NODES, None, selector)])
    if not nodes:
        raise NotFoundError(
            f"no node has the labels '{selector}'",
            hint="make some first: kwokctl scale node --replicas 10",
        )

    def node_of(serial: int) -> str:
        return nodes[serial % len(nodes)]

    def stamp(serial: int) -> dict[str, Json]:
        body = mould.stamp(serial)
        body["spec"]["nodeName"] = node_of(serial)
        return body

    return Placing(stamp, node_of)


def _node_of(body: dict[str, Json]) -> str:
    spec = body.get("spec") or {}
    return str(spec.get("nodeName") or "")
