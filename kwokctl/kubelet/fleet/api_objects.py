"""Reads nodes and pods of the cluster: only what the views have, which costs a fraction of all."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from types import MappingProxyType

import msgspec

from kwokctl.fleet.allocations import DEVICES, Allocation, allocations_of
from kwokctl.fleet.claimed_devices import claimed_gpus
from kwokctl.fleet.devices import is_device
from kwokctl.fleet.tree import DeviceCounts
from kwokctl.json_value import Json
from kwokctl.kube.collections.known_objects import Metadata
from kwokctl.kube.pod_requests import amount
from kwokctl.kubelet.fleet.views import ContainerView, NodeView, PodView

_SIDECAR = "Always"


class OwnMetadata(Metadata, rename="camel", gc=False):
    """The identity of an object, and what documents and metrics say of it."""

    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    creation_timestamp: datetime | None = None


class _Period(msgspec.Struct, rename="camel", gc=False):
    started_at: datetime | None = None
    finished_at: datetime | None = None


class _State(msgspec.Struct, gc=False):
    running: _Period | None = None
    terminated: _Period | None = None


class _ContainerStatus(msgspec.Struct, rename="camel", gc=False):
    name: str = ""
    restart_count: int = 0
    state: _State | None = None
    last_state: _State | None = None
    allocated_resources_status: list[Json] | None = None


class _Resources(msgspec.Struct, gc=False):
    requests: dict[str, str] | None = None


class _Container(msgspec.Struct, rename="camel", gc=False):
    name: str = ""
    resources: _Resources | None = None
    restart_policy: str = ""


class _PodSpec(msgspec.Struct, rename="camel", gc=False):
    node_name: str = ""
    containers: list[_Container] | None = None
    init_containers: list[_Container] | None = None
    ephemeral_containers: list[_Container] | None = None


class _PodStatus(msgspec.Struct, rename="camel", gc=False):
    phase: str = ""
    start_time: datetime | None = None
    container_statuses: list[_ContainerStatus] | None = None
    init_container_statuses: list[_ContainerStatus] | None = None
    ephemeral_container_statuses: list[_ContainerStatus] | None = None


class PodObject(msgspec.Struct, gc=False):
    """A pod as the API server sends it."""

    metadata: OwnMetadata
    spec: _PodSpec = msgspec.field(default_factory=_PodSpec)
    status: _PodStatus = msgspec.field(default_factory=_PodStatus)


class _Address(msgspec.Struct, gc=False):
    type: str = ""
    address: str = ""


class _NodeStatus(msgspec.Struct, gc=False):
    capacity: dict[str, str] | None = None
    allocatable: dict[str, str] | None = None
    addresses: list[_Address] | None = None


class NodeObject(msgspec.Struct, gc=False):
    """A node as the API server sends it."""

    metadata: OwnMetadata
    status: _NodeStatus = msgspec.field(default_factory=_NodeStatus)


def node_view(found: NodeObject) -> NodeView:
    """Return what is kept of a node."""
    metadata, status = found.metadata, found.status
    return NodeView(
        name=metadata.name,
        uid=metadata.uid,
        labels=metadata.labels or {},
        annotations=metadata.annotations or {},
        capacity=status.capacity or {},
        device_counts=_device_counts(status),
        addresses=tuple(each.address for each in status.addresses or ()),
        created=_stamp(metadata.creation_timestamp),
    )


_NO_DEVICES: Mapping[str, DeviceCounts] = MappingProxyType({})


def _device_counts(status: _NodeStatus) -> Mapping[str, DeviceCounts]:
    capacity, allocatable = status.capacity or {}, status.allocatable or {}
    names = [name for name in capacity if is_device(name)]
    if not names:
        return _NO_DEVICES
    return _counted(tuple([(name, capacity[name], allocatable.get(name, "0")) for name in names]))


@lru_cache(maxsize=1024)
def _counted(texts: tuple[tuple[str, str, str], ...]) -> Mapping[str, DeviceCounts]:
    """Return the numbers of devices: one object for all nodes that are alike."""
    return {
        name: DeviceCounts(capacity=amount(name, capacity), allocatable=amount(name, allocatable))
        for name, capacity, allocatable in texts
    }


def pod_view(found: PodObject) -> PodView:
    """Return what is kept of a pod."""
    metadata, status = found.metadata, found.status
    return PodView(
        namespace=metadata.namespace,
        name=metadata.name,
        uid=metadata.uid,
        node=found.spec.node_name,
        labels=metadata.labels or {},
        annotations=metadata.annotations or {},
        containers=tuple(_containers(found)),
        devices=_devices(found),
        phase=status.phase,
        created=_stamp(metadata.creation_timestamp),
        start_time=_stamp(status.start_time),
    )


def _devices(found: PodObject) -> tuple[Allocation, ...]:
    annotations = found.metadata.annotations or {}
    if DEVICES not in annotations and not _has_allocated(found.status):
        return ()
    status = msgspec.to_builtins(found.status)
    pod = {"metadata": {"annotations": annotations}, "status": status}
    return (*allocations_of(pod), *claimed_gpus(pod, found.spec.node_name))


def _has_allocated(status: _PodStatus) -> bool:
    """Tell whether a container has devices: in loops, because every pod of the cluster comes here."""
    for statuses in (
        status.container_statuses,
        status.init_container_statuses,
        status.ephemeral_container_statuses,
    ):
        if statuses is not None:
            for each in statuses:
                if each.allocated_resources_status:
                    return True
    return False


def _containers(found: PodObject) -> Iterator[ContainerView]:
    spec, status = found.spec, found.status
    listed = (status.init_container_statuses, status.container_statuses)
    every = (*listed, status.ephemeral_container_statuses)
    states = {each.name: each for statuses in every for each in statuses or ()}
    for each in spec.init_containers or ():
        is_sidecar = each.restart_policy == _SIDECAR
        yield _container(each, states.get(each.name), is_init=True, is_sidecar=is_sidecar)
    for each in spec.containers or ():
        yield _container(each, states.get(each.name))
    for each in spec.ephemeral_containers or ():
        yield _container(each, states.get(each.name), is_ephemeral=True)


def _container(
    container: _Container,
    status: _ContainerStatus | None,
    *,
    is_init: bool = False,
    is_sidecar: bool = False,
    is_ephemeral: bool = False,
) -> ContainerView:
    state = (status.state if status is not None else None) or _State()
    now = state.running or state.terminated or _Period()
    resources = container.resources or _Resources()
    return ContainerView(
        name=container.name,
        requests=resources.requests or {},
        is_running=state.running is not None,
        started_at=_stamp(now.started_at),
        finished_at=_stamp(now.finished_at),
        previous=_previous(status),
        restarts=0 if status is None else status.restart_count,
        is_init=is_init,
        is_sidecar=is_sidecar,
        is_ephemeral=is_ephemeral,
    )


def _previous(status: _ContainerStatus | None) -> tuple[float, float] | None:
    last = status.last_state if status is not None else None
    if last is None or last.terminated is None:
        return None
    return _stamp(last.terminated.started_at), _stamp(last.terminated.finished_at)


def _stamp(moment: datetime | None) -> float:
    return 0.0 if moment is None else moment.timestamp()
