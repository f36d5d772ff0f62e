"""Reads the fleet of a cluster: its nodes, their places, and how many of their devices are in use."""

from collections import Counter
from collections.abc import Mapping

import msgspec

from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import load
from kwokctl.clusters.stopped_components import demand_running
from kwokctl.fleet.tree import (
    PLACE,
    SHAPE,
    DeviceCounts,
    FleetNode,
    FleetUnit,
    fleet_tree,
    place_of,
)
from kwokctl.kube.collections.paging import ListQuery, list_from_cache
from kwokctl.kube.kubeconfig.access import load_access
from kwokctl.kube.pod_requests import amounts, requests_of
from kwokctl.kube.resource import NODES, PODS
from kwokctl.kube.transport.pool import Pool
from kwokctl.model import KUBE_APISERVER, ClusterName

_RUNNING = "status.phase!=Succeeded,status.phase!=Failed"


class _Metadata(msgspec.Struct, gc=False):
    name: str
    annotations: dict[str, str] | None = None
    labels: dict[str, str] | None = None


class _NodeSpec(msgspec.Struct, gc=False):
    unschedulable: bool = False


class _Condition(msgspec.Struct, gc=False):
    type: str
    status: str


class _NodeStatus(msgspec.Struct, gc=False):
    capacity: dict[str, str] | None = None
    allocatable: dict[str, str] | None = None
    conditions: list[_Condition] | None = None


class _Node(msgspec.Struct, gc=False):
    metadata: _Metadata
    spec: _NodeSpec = msgspec.field(default_factory=_NodeSpec)
    status: _NodeStatus = msgspec.field(default_factory=_NodeStatus)


class _Pod(msgspec.Struct, gc=False):
    spec: dict[str, object]


_node = msgspec.json.Decoder(_Node).decode
_pod = msgspec.json.Decoder(_Pod).decode


async def fleet_of(home: Home, name: ClusterName) -> FleetUnit:
    """Return the fleet of a cluster; ComponentError, with a hint, if its API server does not run."""
    paths = home.paths(name)
    runtime = home.runtime(load(paths, name).options.runtime)
    await demand_running(home, runtime, name, KUBE_APISERVER)
    async with Pool(load_access(paths.own_kubeconfig)) as pool:
        nodes = [
            _node(raw)
            async for page in list_from_cache(pool, ListQuery(resource=NODES))
            for raw in page.objects
        ]
        has_devices = any(_devices(each.status.capacity) for each in nodes)
        allocated = await _allocated(pool) if has_devices else {}
    return fleet_tree(_fleet_node(each, allocated.get(each.metadata.name, {})) for each in nodes)


async def _allocated(pool: Pool) -> Mapping[str, Mapping[str, int]]:
    """Return how many devices of each resource are requested of each node."""
    query = ListQuery(resource=PODS, field_selector=f"spec.nodeName!=,{_RUNNING}")
    found: dict[str, Counter[str]] = {}
    async for page in list_from_cache(pool, query):
        for raw in page.objects:
            spec = _pod(raw).spec
            requested = {name: n for name, n in requests_of(spec) if "/" in name}
            if requested:
                found.setdefault(str(spec["nodeName"]), Counter()).update(requested)
    return found


def _devices(resources: Mapping[str, str] | None) -> dict[str, int]:
    """Return the extended resources: those whose name has a domain."""
    return amounts({name: text for name, text in (resources or {}).items() if "/" in name})


def _fleet_node(node: _Node, allocated: Mapping[str, int]) -> FleetNode:
    capacity, allocatable = _devices(node.status.capacity), _devices(node.status.allocatable)
    conditions = node.status.conditions or ()
    return FleetNode(
        name=node.metadata.name,
        shape=(node.metadata.labels or {}).get(SHAPE, ""),
        place=place_of((node.metadata.annotations or {}).get(PLACE, "")),
        is_ready=any(each.type == "Ready" and each.status == "True" for each in conditions),
        is_cordoned=node.spec.unschedulable,
        devices={
            resource: DeviceCounts(
                capacity=number,
                allocatable=allocatable.get(resource, 0),
                allocated=allocated.get(resource, 0),
            )
            for resource, number in capacity.items()
        },
    )
