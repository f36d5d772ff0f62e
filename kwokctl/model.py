"""Defines what a cluster is made of: components, programs, ports. Values only."""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from graphlib import TopologicalSorter
from pathlib import Path, PurePath
from typing import NewType

import msgspec

from kwokctl.json_value import Json

ClusterName = NewType("ClusterName", str)
ComponentName = NewType("ComponentName", str)

ETCD = ComponentName("etcd")
JAEGER = ComponentName("jaeger")
KUBE_APISERVER = ComponentName("kube-apiserver")
KUBE_APISERVER_INSECURE_PROXY = ComponentName("kube-apiserver-insecure-proxy")
KUBE_CONTROLLER_MANAGER = ComponentName("kube-controller-manager")
KUBE_SCHEDULER = ComponentName("kube-scheduler")
KWOK_API_PROXY = ComponentName("kwok-api-proxy")
KWOK_CONTROLLER = ComponentName("kwok-controller")
KWOK_KUBELET = ComponentName("kwok-kubelet")
METRICS_SERVER = ComponentName("metrics-server")
PROMETHEUS = ComponentName("prometheus")


class State(StrEnum):
    """Whether a runtime has a component, and whether it runs; being ready is another question."""

    STOPPED = "stopped"
    RUNNING = "running"


class Artifact(msgspec.Struct, frozen=True, kw_only=True):
    """A program, as a command on this host, as a container image, or as both."""

    name: str
    version: str
    command: tuple[str, ...] = ()
    """Program and leading arguments, absolute: `("/…/etcd",)` or `(python, "-m", "…")`."""
    image: str | None = None


class Port(msgspec.Struct, frozen=True, kw_only=True):
    """A TCP port a component listens on."""

    name: str
    port: int
    """As the component sees it."""
    host_port: int = 0
    """As this host sees it; 0 if it is not published."""
    host_address: str = "127.0.0.1"
    """The address of this host at which it is published."""


class Mount(msgspec.Struct, frozen=True, kw_only=True):
    """A file or folder of the host that a component sees."""

    host_path: Path
    mount_path: PurePath
    read_only: bool = True


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """The share of this machine that a component may use; 0 means no limit."""

    memory: int = 0
    """In bytes."""
    cpus: float = 0

    def __bool__(self) -> bool:
        return bool(self.memory or self.cpus)


AUTHORITY = "ca"
"""The authority that servers and users of a cluster have in common."""


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a certificate: the name of its files, its user and groups, and its usages."""

    name: str
    common_name: str
    organizations: tuple[str, ...] = ()
    server: bool = False
    client: bool = True
    server_names: tuple[str, ...] = ()
    """DNS names and IP addresses under which it is dialled."""
    authority: str = AUTHORITY
    """The authority that certifies it: the name of its files."""


class NodeAddress(msgspec.Struct, frozen=True, kw_only=True):
    """The address and port of a kubelet, as its node reports them."""

    name: str
    ip: str


class HttpProbe(msgspec.Struct, frozen=True, kw_only=True):
    """Holds when a GET of `url`, dialled from this host, answers 200."""

    url: str
    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None
    socket: Path | None = None
    """A unix socket to dial instead of the URL's host and port."""


class OwnManner(msgspec.Struct, frozen=True, kw_only=True):
    """The settings for running a component that its user describes; kwokctl's own components need none."""

    entry: tuple[str, ...] = ()
    """The entry point of its image; empty for the image's own."""
    user: str = ""
    """The user of its container; empty for the one that the image says."""
    folder: str = ""
    """The folder it works in; empty for the usual one."""


class Component(msgspec.Struct, frozen=True, kw_only=True):
    """One program of the control plane: what to run, never how it is run."""

    name: ComponentName
    artifact: Artifact
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = msgspec.field(default_factory=dict)
    ports: tuple[Port, ...] = ()
    mounts: tuple[Mount, ...] = ()
    ready: tuple[HttpProbe, ...] = ()
    """The component is ready when all of these hold."""
    answers: tuple[HttpProbe, ...] = ()
    """It answers its first requests when all of these hold; it may not be ready yet."""
    after: frozenset[ComponentName] = frozenset()
    """Started only when these are ready."""
    is_early: bool = False
    """Started as soon as those answer that it comes after: it needs nothing that they set up afterwards."""
    uses: frozenset[ComponentName] = frozenset()
    """Stopped before these, whether or not it is started after them."""
    certified_names: tuple[str, ...] = ()
    """More names and addresses for its certificate, where the runtime makes that."""
    limits: Limits = Limits()
    objects: Sequence[Mapping[str, Json]] = ()
    """The objects that it needs in the cluster: applied before it starts, once the API server is ready."""
    files: Mapping[Path, str] = msgspec.field(default_factory=dict)
    """The files that it reads: written, for its owner only, before it starts."""
    url: str = ""
    """The address of its web pages on this host, if it has any."""
    own: OwnManner | None = None
    """Given for one that its user describes."""
    held_at: str = ""
    """The flag of a file that it reads once: when it has connected, and before it reads objects."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A cluster and its components."""

    cluster: ClusterName
    components: Mapping[ComponentName, Component]
    restart: bool = False
    """Launch components again that die."""
    maker: Artifact | None = None
    """The program with which the runtime makes the cluster, and the image of its nodes."""
    documents: tuple[Mapping[str, object], ...] = ()
    """The user's own configuration of that program."""

    def waves(self) -> Iterator[tuple[Component, ...]]:
        """Yield groups that can start together, each after all it waits for."""
        yield from self._grouped({c.name: c.after for c in self.components.values()})

    def stop_waves(self) -> Iterator[tuple[Component, ...]]:
        """Yield groups that can stop together, each before all it uses."""
        groups = self._grouped({c.name: c.after | c.uses for c in self.components.values()})
        yield from reversed(list(groups))

    def _grouped(
        self, before: Mapping[ComponentName, frozenset[ComponentName]]
    ) -> Iterator[tuple[Component, ...]]:
        present = {name: names & self.components.keys() for name, names in before.items()}
        order = TopologicalSorter(present)
        order.prepare()
        while order.is_active():
            ready = order.get_ready()
            yield tuple(self.components[name] for name in sorted(ready))
            order.done(*ready)
