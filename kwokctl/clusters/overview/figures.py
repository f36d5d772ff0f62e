"""The figures of a cluster at one moment; what could not be found out is None."""

from collections.abc import Mapping, Sequence

import msgspec

from kwokctl.clusters.status import ComponentStatus, RunStatus
from kwokctl.host.processes.process_usage import Usage
from kwokctl.model import ClusterName, ComponentName

READY = "Ready"
RUNNING = "Running"


class Nodes(msgspec.Struct, frozen=True, kw_only=True):
    """The nodes of a cluster."""

    by_status: Mapping[str, int]
    """The number of nodes by the status that `kubectl get nodes` shows, without remarks."""
    not_ready: str = ""
    """The name of one that is not Ready."""

    @property
    def total(self) -> int:
        """The number of all nodes."""
        return sum(self.by_status.values())

    @property
    def ready(self) -> int:
        """The number of Ready nodes."""
        return self.by_status.get(READY, 0)


class Pods(msgspec.Struct, frozen=True, kw_only=True):
    """The pods of a cluster."""

    by_status: Mapping[str, int]
    """The number of pods by the status that `kubectl get pods` shows; Running is the phase."""

    @property
    def total(self) -> int:
        """The number of all pods."""
        return sum(self.by_status.values())


class Store(msgspec.Struct, frozen=True, kw_only=True):
    """The space of etcd, in bytes."""

    size: int
    """Of its file."""
    in_use: int
    """The size of the file after defragmenting it."""
    quota: int
    """The size at which it refuses writes."""


class ControllerReport(msgspec.Struct, frozen=True, kw_only=True):
    """The figures that the controller reports about itself."""

    stages: Sequence[str]
    """The names of the Stages in force, in order."""
    watch_delay: float | None
    """Seconds from a write to etcd to its sight in the watch; None where it writes through the API."""
    version: str = ""
    """The version of kwokctl whose controller it is; empty if it does not say."""


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is wrong with a cluster."""

    what: str
    """A sentence without its full stop."""
    remedy: str
    """The remedy: mostly a command."""


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """A cluster at one moment."""

    name: ClusterName
    status: RunStatus
    kube_version: str
    runtime: str
    components: Sequence[ComponentStatus]
    usage: Mapping[ComponentName, Usage]
    """Of those components whose processes can be seen from here."""
    writes: str
    heartbeat: str
    nodes: Nodes | None = None
    pods: Pods | None = None
    etcd: Store | None = None
    controller: ControllerReport | None = None
    problems: Sequence[Problem] = ()
