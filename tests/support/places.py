"""Where clusters live in tests: each runtime with what it needs, and with how to see what it leaves."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from kwokctl.errors import KwokctlError
from runtimes.engine.endpoint import Endpoint
from runtimes.engine.engine_client import Engine
from tests.support import engines, on_kind
from tests.support.engine_command import EngineCommand
from tests.support.engines import Daemon
from tests.support.installed import Installed
from tests.support.node_image import NoImageError, loaded_node_image

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
    image: str = ""
    """The name of the image of kind's node in the engine, for a runtime of kind's."""

    @property
    def has_node(self) -> bool:
        """Whether there is a real node beside the fake ones."""
        return bool(self.image)

    def create(self, cluster: Installed, *more: str, timeout: float = 300) -> None:
        """Create a cluster with more options, and wait for it."""
        if self.image:
            words = ("--kind-node-image", self.image, "--wait", *more)
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

    def host(self, cluster: Installed) -> str:
        """Return the address at which the API server and etcd of a cluster find this machine."""
        if self.command is None:
            return "127.0.0.1"
        if self.has_node:
            patch = cluster.workdir / "clusters" / cluster.name / "kind/patches/etcd+strategic.yaml"
            return str(yaml.safe_load(patch.read_text())["spec"]["hostAliases"][0]["ip"])
        etcd = f"kwok-{cluster.name}-etcd"
        hosts = self.command.words("inspect", "--format", "{{.HostConfig.ExtraHosts}}", etcd)
        return hosts[0].strip("[]").partition(":")[2]

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


@dataclass(frozen=True, slots=True)
class _Engine:
    """What a place has its containers from."""

    fixture: str
    """Gives it, to all tests of a run that need it."""
    variable: str
    """Names it to kwokctl, and to its own command."""
    program: str


_DOCKER = _Engine("own_docker", "DOCKER_HOST", "docker")
_PODMAN = _Engine("own_podman", "CONTAINER_HOST", "podman")
_ENGINES = {"docker": _DOCKER, "podman": _PODMAN, "kind": _DOCKER, "kind-podman": _PODMAN}


@contextmanager
def opened(request: pytest.FixtureRequest) -> Iterator[Place]:
    """Return the place that a fixture's parameter names; skip where it is not available."""
    name = str(request.param)
    if name == "binary":
        yield Place(name=name, runtime=name)
        return
    of = _ENGINES[name]
    with engines.named(request.getfixturevalue(of.fixture), of.variable) as daemon:
        image = _image(daemon) if name.startswith("kind") else ""
        yield Place(name=name, runtime=name, command=EngineCommand(of.program), image=image)


def _image(daemon: Daemon) -> str:
    """Name the image of the node, which an engine has from now on; Docker makes it if it must be made."""
    # As Docker does for kind's nodes on Podman; machines without modules have none.
    Path("/lib/modules").mkdir(exist_ok=True)
    try:
        return asyncio.run(loaded_node_image(Engine(Endpoint(url=daemon.url)), engines.engine()))
    except (engines.NoEngineError, NoImageError, KwokctlError) as e:
        pytest.skip(f"no image of a node: {e}")
