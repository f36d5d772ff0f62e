"""Slim copies of the cluster's objects: of a fake node, and of a pod on it."""

from collections.abc import Iterable, Mapping
from typing import Protocol

import msgspec

from kwokctl.embedded.http.messages import NoAnswerError
from kwokctl.embedded.silence import is_silent
from kwokctl.faults.overlays.open_entries import OPEN_FAULTS, OpenEntry, read_entries, silences
from kwokctl.fleet.allocations import Allocation
from kwokctl.fleet.tree import DeviceCounts


class ContainerView(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A container of a pod."""

    name: str
    requests: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Quantities as they are written, by resource."""
    is_running: bool = False
    started_at: float = 0.0
    """The time of its start as a POSIX time stamp, also if it has ended since; 0 if it never started."""
    finished_at: float = 0.0
    """The time of its end; 0 if it has not ended."""
    previous: tuple[float, float] | None = None
    """The times of the start and the end of the container that it has replaced."""
    restarts: int = 0
    is_init: bool = False
    """Whether it is an init container, with or without a restart policy."""
    is_sidecar: bool = False
    """Whether it is an init container that runs beside the others."""
    is_ephemeral: bool = False

    @property
    def is_beside(self) -> bool:
        """Whether it is an init or an ephemeral container, and so not one of the pod's own."""
        return self.is_init or self.is_ephemeral


class PodView(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A pod on a fake node."""

    namespace: str
    name: str
    uid: str
    node: str
    labels: Mapping[str, str] = msgspec.field(default_factory=dict)
    annotations: Mapping[str, str] = msgspec.field(default_factory=dict)
    containers: tuple[ContainerView, ...] = ()
    """Init containers first, then the others, ephemeral ones last, each in the pod's order."""
    devices: tuple[Allocation, ...] = ()
    """Of all its containers, also of those that do not run."""
    phase: str = ""
    created: float = 0.0
    """POSIX time stamps; 0 if there is none."""
    start_time: float = 0.0

    def container(self, name: str) -> ContainerView | None:
        """Return a container by name."""
        return next((each for each in self.containers if each.name == name), None)


class NodeView(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A fake node."""

    name: str
    uid: str
    labels: Mapping[str, str] = msgspec.field(default_factory=dict)
    annotations: Mapping[str, str] = msgspec.field(default_factory=dict)
    capacity: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Quantities as they are written, by resource."""
    device_counts: Mapping[str, DeviceCounts] = msgspec.field(default_factory=dict)
    """By resource, of those that device plugins advertise."""
    addresses: tuple[str, ...] = ()
    """Its internal and external addresses, without names."""
    created: float = 0.0
    """A POSIX time stamp; 0 if there is none."""

    @property
    def faults(self) -> tuple[OpenEntry, ...]:
        """The faults that are open on it."""
        return read_entries(self.annotations.get(OPEN_FAULTS, ""))

    def demand_answer(self) -> None:
        """Raise NoAnswerError if its kubelet is silent: by its annotation, or by a fault."""
        if is_silent(self.annotations) or silences(self.faults):
            raise NoAnswerError(f"the kubelet of node '{self.name}' is silent")


class PodFinder(Protocol):
    """The pods of the fake nodes, as they are now: what logs and streams need."""

    async def pod(self, namespace: str, name: str) -> PodView | None:
        """Return a pod that is on a fake node; asks the cluster while nothing is watched.

        Raises ApiError when the cluster does not answer, and NoAnswerError when the kubelet is silent.
        """
        ...


class FleetView(PodFinder, Protocol):
    """The fake nodes and the pods on them, as they are now.

    Nothing is watched until something needs all of them: most clusters are never asked for usage.
    """

    async def watched(self) -> None:
        """Begin to watch, and wait until all have been seen; the other methods need that."""
        ...

    def node(self, name: str) -> NodeView | None:
        """Return a fake node."""
        ...

    def nodes(self) -> Iterable[NodeView]:
        """Return every fake node."""
        ...

    def pods_on(self, node: str) -> Iterable[PodView]:
        """Return the pods on a node, in no order that may be relied on."""
        ...

    def nodes_at(self, address: str) -> Iterable[NodeView]:
        """Return the fake nodes that have an address."""
        ...
