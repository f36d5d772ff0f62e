"""Decides on which node each pod of a set lies, if that is not left to the scheduler."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from kwokctl.clusters.scaling.mould import Mould
from kwokctl.clusters.scaling.reading import Reader
from kwokctl.clusters.scaling.request import ScaleRequest
from kwokctl.clusters.scaling.serials import Serials
from kwokctl.clusters.scaling.spreading import Spread, spread_of
from kwokctl.errors import UsageError
from kwokctl.kube.resource import PODS, Resource

Json = Any


async def _anywhere(_serials: Serials, _reader: Reader) -> None:
    """Leave the pods where their template has them."""


@dataclass(frozen=True, slots=True)
class Placing:
    """How the objects of a set are rendered, and where pods lie."""

    stamp: Callable[[int], dict[str, Json]]
    """Gives the object with a serial."""
    node_of: Callable[[int], str] | None
    """Gives the node of the pod with a serial; None if the objects are on no node yet."""
    settle: Callable[[Serials, Reader], Awaitable[None]] = _anywhere
    """Looks for room for the pods with these serials before any is made; raises CapacityError."""


async def placing_of(
    request: ScaleRequest, mould: Mould, resource: Resource, reader: Reader
) -> Placing:
    """Place pods where the request says, else where their template says.

    Raises UsageError for nodes that are asked for objects that are no pods, and NotFoundError if
    there are no such nodes.
    """
    if request.on_nodes is not None:
        if resource != PODS:
            raise UsageError(f"--on-nodes is for pods, not for {resource.plural}")
        return _placed(await spread_of(request, request.on_nodes, reader), mould)
    node = _node_of(mould.stamp(0))
    if resource != PODS or not node:
        return Placing(mould.stamp, None)
    pattern = mould.pattern()
    if pattern is None:
        return Placing(mould.stamp, lambda serial: _node_of(mould.stamp(serial)))
    return Placing(mould.stamp, pattern.slots.get(("spec", "nodeName"), lambda _: node))


def _placed(spread: Spread, mould: Mould) -> Placing:
    def stamp(serial: int) -> dict[str, Json]:
        body = mould.stamp(serial)
        body["spec"]["nodeName"] = spread.node_of(serial)
        return body

    return Placing(stamp, spread.node_of, spread.settle)


def _node_of(body: dict[str, Json]) -> str:
    spec = body.get("spec") or {}
    return str(spec.get("nodeName") or "")
