"""Where clusters live in tests: each runtime with what it needs, and with how to see what it leaves."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from kwokctl.errors import KwokctlError
from tests.support import engines, on_kind, podman
from tests.support.engine_command import EngineCommand
from tests.support.installed import Installed
from tests.support.node_image import NoImageError, node_image

_IN_CONTAINERS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")

_FORMER = "s#=unix://peer.sock#=unix:///tmp/peer.sock#; /client-cert-allowed-hostname/d"
"""Makes of etcd's manifest what it was before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A runtime that can be used now."""

    name: str
    runtime: str
    command: EngineCommand | None = None
    """That of its engine; None if it has none."""
    image: Path | None = None
    """The file of the image of kind's node, for a runtime of kind's."""

    @property
    def has_node(self) -> bool:
        """Whether there is a real node beside the fake ones."""
        return self.image is not None

    def create(self, cluster: Installed, *more: str, timeout: float = 300) -> None:
        """Create a cluster with more options, and wait for it."""
        if self.image is not None:
            words = ("--kind-node-image", str(self.image), "--wait", *more)
            on_kind.create(cluster, *words, runtime=self.runtime)
            return
        built = () if self.command is None else ("--artifact-source", "build")
        runtime = ("--runtime", self.runtime)
        cluster.ok("create", "cluster", *runtime, *built, "--wait", *more, timeout=timeout)

    def containers(self, *clusters: Installed) -> list[str]:
        """Name the containers that these clusters have."""
        if self.command is None:
            return []
        parts = ("control-plane",) if self.has_node else _IN_CONTAINERS
        return sorted(f"kwok-{cluster.name}-{part}" for cluster in clusters for part in parts)

    def make_node_as_before(self, cluster: Installed) -> None:
        """Have the etcd of a stopped node as a former kwokctl made it: open to others."""
        if self.command is None or not self.has_node:
            return
        (node,) = self.containers(cluster)
        self.command.words("start", node)
        self.command.words("exec", node, "sed", "-i", _FORMER, "/etc/kubernetes/stopped/etcd.yaml")
        self.command.words("stop", node)

    def found(self, *arguments: str) -> list[str]:
        """Name the containers that there are."""
        return self.command.containers(*arguments) if self.command is not None else []

    def remains(self, cluster: Installed) -> list[str]:
        """Name what its engine still has of a cluster, but containers."""
        if self.command is None:
            return []
        volumes = self.command.words("volume", "ls", "--quiet")
        networks = self.command.words("network", "ls", "--format", "{{.Name}}")
        return volumes + [name for name in networks if f"kwok-{cluster.name}" in name]


@contextmanager
def _processes() -> Iterator[Place]:
    yield Place(name="binary", runtime="binary")


@contextmanager
def _docker() -> Iterator[Place]:
    with engines.at_hand(engines.started(), "DOCKER_HOST"):
        yield Place(name="docker", runtime="docker", command=EngineCommand("docker"))


@contextmanager
def _podman() -> Iterator[Place]:
    """The runtime of containers on a Podman that is named to kwokctl as to podman's own command."""
    with engines.at_hand(podman.started(), "CONTAINER_HOST"):
        yield Place(name="podman", runtime="podman", command=EngineCommand("podman"))


@contextmanager
def _kind(image: Path) -> Iterator[Place]:
    with engines.at_hand(engines.started(), "DOCKER_HOST"):
        yield Place(name="kind", runtime="kind", command=EngineCommand("docker"), image=image)


@contextmanager
def _kind_podman(image: Path) -> Iterator[Place]:
    """kind on a Podman that only CONTAINER_HOST tells of, to kwokctl and to what kind runs."""
    Path("/lib/modules").mkdir(exist_ok=True)  # as Docker does; machines without modules have none
    with engines.at_hand(podman.started(), "CONTAINER_HOST"):
        yield Place(
            name="kind-podman",
            runtime="kind-podman",
            command=EngineCommand("podman"),
            image=image,
        )


WITHOUT_NODE: Mapping[str, Callable[[], AbstractContextManager[Place]]] = {
    "binary": _processes,
    "docker": _docker,
    "podman": _podman,
}
WITH_NODE: Mapping[str, Callable[[Path], AbstractContextManager[Place]]] = {
    "kind": _kind,
    "kind-podman": _kind_podman,
}
"""These are given the image of the node."""


@contextmanager
def opened(name: str) -> Iterator[Place]:
    """Return the place called so; skip the test where there can be no image of a node."""
    with WITHOUT_NODE[name]() if name in WITHOUT_NODE else WITH_NODE[name](_image()) as place:
        yield place


def _image() -> Path:
    """Return the file of the node's image, for whose making Docker is used."""
    try:
        return asyncio.run(node_image(engines.engine()))
    except (engines.NoEngineError, NoImageError, KwokctlError) as e:
        pytest.skip(f"no image of a node: {e}")
