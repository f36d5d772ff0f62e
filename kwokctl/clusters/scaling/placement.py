"""Decides on which node each pod of a set is placed, if the scheduler does not decide it.

Pods are spread evenly over nodes, as far as each node has room for them.
"""

from collections.abc import Awaitable, Callable, Mapping

import msgspec

from kwokctl.clusters.scaling.changes import Serials
from kwokctl.clusters.scaling.cluster_reader import ClusterReader
from kwokctl.clusters.scaling.context import amount
from kwokctl.clusters.scaling.objects.render import Renderer
from kwokctl.clusters.scaling.scale_request import ScaleRequest
from kwokctl.errors import CapacityError, NotFoundError, UsageError
from kwokctl.json_value import Json
from kwokctl.kube.resource import NODES, PODS, Resource


class Spread:
    """The nodes over which the pods of a set are spread."""

    def __init__(self, request: ScaleRequest, limits: Mapping[str, int | None]) -> None:
        """Spread over the nodes of `limits`, which gives the number of pods that each may have.

        None means that a node states no limit.
        """
        self._request = request
        self._limits = limits
        self._nodes = sorted(limits)
        self._serials: Serials | None = None
        self._assigned: list[str] = []

    def node_of(self, serial: int) -> str:
        """Return the node of the pod with a serial."""
        if self._serials is None:
            return self._nodes[serial % len(self._nodes)]
        return self._assigned[self._serials.index(serial)]

    async def settle(self, serials: Serials, reader: ClusterReader) -> None:
        """Leave out nodes that are full, for the pods with these serials.

        A kubelet refuses the pods that exceed `allocatable.pods` of its node. Raises CapacityError
        if not all of them fit, unless that is forced.
        """
        if self._request.force or not serials:
            return
        share = -(-len(serials) // len(self._nodes))
        least = min((limit for limit in self._limits.values() if limit is not None), default=None)
        if least is None or await reader.count_pods() + share <= least:
            return
        there = await reader.pods_by_node()
        room = {
            node: len(serials) if limit is None else max(limit - there.get(node, 0), 0)
            for node, limit in self._limits.items()
        }
        if all(free >= share for free in room.values()):
            return
        self._demand(len(serials), sum(room.values()))
        self._assigned = _assigned(room, self._nodes, len(serials))
        self._serials = serials

    def _demand(self, number: int, free: int) -> None:
        if free >= number:
            return
        which = f" with the labels '{self._request.on_nodes}'" if self._request.on_nodes else ""
        raise CapacityError(
            f"there is no room for {amount(number, PODS)}: {amount(len(self._nodes), NODES)}{which} "
            f"can take {free:,} more (allocatable.pods)",
            hint="create more nodes, or nodes for more pods with "
            "--param '.allocatable.pods = 250'; --force ignores their limit",
        )


async def spread_of(request: ScaleRequest, selector: str, reader: ClusterReader) -> Spread:
    """Find the nodes that a label selector selects; NotFoundError if there are none."""
    limits = {name: limit async for name, limit in reader.pod_limits(selector)}
    if not limits:
        raise NotFoundError(
            f"no node has the labels '{selector}'",
            hint="create some first: kwokctl scale node --replicas 10",
        )
    return Spread(request, limits)


def _assigned(room: Mapping[str, int], nodes: list[str], number: int) -> list[str]:
    """Return the node of each pod: one after the other, those that are full left out."""
    left = {node: room[node] for node in nodes}
    assigned: list[str] = []
    while len(assigned) < number:
        left = {node: free for node, free in left.items() if free}
        for node in left:
            left[node] -= 1
        assigned += left
    return assigned[:number]


async def _anywhere(_serials: Serials, _reader: ClusterReader) -> None:
    """Leave the pods where their template places them."""


class Placing(msgspec.Struct, frozen=True):
    """The rendering of a set's objects, and the placement of pods."""

    stamp: Callable[[int], dict[str, Json]]
    """Gives the object with a serial."""
    node_of: Callable[[int], str] | None
    """Gives the node of the pod with a serial; None if the objects are on no node yet."""
    settle: Callable[[Serials, ClusterReader], Awaitable[None]] = _anywhere
    """Looks for room for the pods with these serials before any is made; raises CapacityError."""


async def placing_of(
    request: ScaleRequest, renderer: Renderer, resource: Resource, reader: ClusterReader
) -> Placing:
    """Place pods where the request says, else where their template says.

    Raises UsageError for a request of nodes for objects that are not pods, and NotFoundError if
    there are no such nodes.
    """
    if request.on_nodes is not None:
        if resource != PODS:
            raise UsageError(f"--on-nodes is for pods, not for {resource.plural}")
        return _placed(await spread_of(request, request.on_nodes, reader), renderer)
    node = _node_of(renderer.stamp(0))
    if resource != PODS or not node:
        return Placing(renderer.stamp, None)
    pattern = renderer.pattern()
    if pattern is None:
        return Placing(renderer.stamp, lambda serial: _node_of(renderer.stamp(serial)))
    return Placing(renderer.stamp, pattern.slots.get(("spec", "nodeName"), lambda _: node))


def _placed(spread: Spread, renderer: Renderer) -> Placing:
    def stamp(serial: int) -> dict[str, Json]:
        body = renderer.stamp(serial)
        body["spec"]["nodeName"] = spread.node_of(serial)
        return body

    return Placing(stamp, spread.node_of, spread.settle)


def _node_of(body: dict[str, Json]) -> str:
    spec = body.get("spec") or {}
    return str(spec.get("nodeName") or "")
