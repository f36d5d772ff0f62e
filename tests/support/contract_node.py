"""A node of kind's for the contract: made by kind once, with stand-ins placed in it by each test."""

from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from kwokctl.artifacts.resolve_programs import ArtifactSource, resolve
from kwokctl.artifacts.versions import DEFAULT_KUBE_VERSION
from kwokctl.clusters.programs.needed import wanted_program
from kwokctl.clusters.state.component_files import write_files
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import Saved
from kwokctl.host.files import remove_tree
from kwokctl.host.machine import Host
from kwokctl.host.paths import WorkDir, cache_dir
from kwokctl.model import (
    ETCD,
    KUBE_APISERVER,
    Artifact,
    ClusterName,
    Component,
    ComponentName,
    Plan,
)
from kwokctl.progress import Silent
from kwokctl.replacing import replace
from kwokctl.runtime import Runtime
from runtimes.kind.kind_runtime import KindRuntime
from runtimes.kind.provider import docker
from tests.support.node_image import loaded_node_image
from tests.support.options import cluster_options
from tests.support.ports import free_port

_KIND = "kind"


@dataclass
class Node:
    """A node with a control plane of its own, without which kind makes none."""

    host: Host
    saved: Saved
    _plan: Plan = field(init=False)
    _ports: dict[ComponentName, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._write()

    @property
    def runtime(self) -> Runtime:
        """The runtime that makes it, with less patience: etcd and API server are asked to end at once."""
        return KindRuntime(self.host, docker(), grace=2.0)

    @property
    def plan(self) -> Plan:
        """A real etcd and API server: no test's concern, but for being in every plan."""
        return self._plan

    def port(self, name: ComponentName) -> int:
        """Return the port of a stand-in, which is published for as long as there is the node."""
        return self._ports.setdefault(name, free_port())

    async def enter(self, guests: Iterable[Component]) -> None:
        """Have the node run, made so that these can be placed in it, and none of them placed."""
        more = {guest.name: guest for guest in guests}
        runtime = self.runtime
        own = self.plan.components
        await runtime.install(replace(self.plan, components={**own, **more}))
        await runtime.start(self.saved.name, *own)
        await runtime.install(self.plan)

    async def leave(self) -> None:
        """Take out what a test has placed; a node that it has removed is made by the next one."""
        if not (self._root / _KIND).exists():
            # As when a cluster is deleted: its data go with it.
            remove_tree(self._root)
            self._write()
        await self.runtime.install(self.plan)

    @property
    def _root(self) -> Path:
        return self.host.cluster(self.saved.name).root

    def _write(self) -> None:
        home = Home(workdir=self.host.workdir, cache=cache_dir())
        self._plan = write_files(home, self.runtime, self.saved)


async def node(folder: Path, cluster: ClusterName) -> Node:
    """Prepare a node with its files in a folder; its image is in the engine from then on.

    Raises NoImageError, or what getting kind raises, where there can be none.
    """
    options = cluster_options(runtime=_KIND, etcd_port=free_port(), kube_apiserver_port=free_port())
    found = await resolve(
        [wanted_program(options, _KIND)],
        source=ArtifactSource.AUTO,
        cache=cache_dir(),
        progress=Silent(),
    )
    engine = docker().engine
    image = await loaded_node_image(engine, nullcontext(engine.endpoint.url))
    names = (ETCD, KUBE_APISERVER)
    saved = Saved(
        name=cluster,
        options=options,
        names=names,
        artifacts={
            **{name: Artifact(name=name, version=DEFAULT_KUBE_VERSION) for name in names},
            _KIND: replace(found[_KIND], image=image),
        },
        stages=(),
    )
    return Node(host=Host(WorkDir(folder)), saved=saved)
