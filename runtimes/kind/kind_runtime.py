"""Lets kind make a node with the control plane in it, and keeps the controller beside it on the host."""

import os
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from kwokctl.errors import ComponentError, UnavailableError
from kwokctl.expr import yaml
from kwokctl.host import logfiles
from kwokctl.host.files import private_folder, remove_tree, write_atomic
from kwokctl.host.machine import Host
from kwokctl.host.paths import ClusterPaths
from kwokctl.host.processes.manager import GRACE, Crew
from kwokctl.json_value import Json
from kwokctl.model import ETCD, KUBE_APISERVER, ClusterName, ComponentName, Plan, State
from kwokctl.runtime import Site
from runtimes.engine.engine_client import Container
from runtimes.engine.remarks import described
from runtimes.engine.site import LOOPBACK, ON_HOST, address_of, placed, reached_by
from runtimes.kind.images.image import KindNodeImages
from runtimes.kind.kind_node import Node
from runtimes.kind.nodes.kind_configuration import GROUP, configuration, patches_folder
from runtimes.kind.nodes.node_containers import KindNodes, remains
from runtimes.kind.nodes.node_creation import CONFIGURATION, Creation
from runtimes.kind.pods.kubeadm import MAKES, known_host, make_files, pod_patch
from runtimes.kind.pods.placed_pods import PlacedPods, knowing
from runtimes.kind.pods.pod_settings import KindSite, PodSettings
from runtimes.kind.provider import Provider

_PATCH = "+strategic.yaml"


class KindRuntime:
    """The components are static pods of kind's node; those of Kubernetes' own kubeadm has made.

    kind makes those all at once, when the first of them is started.
    """

    maker = "kind"
    brings = MAKES
    documents = GROUP

    def __init__(self, host: Host, provider: Provider, *, grace: float = GRACE) -> None:
        self.name = provider.runtime
        self._host = host
        self._provider = provider
        self._engine = provider.engine
        self.node_images = KindNodeImages(provider.engine)
        self._grace = grace
        self._plans: dict[ClusterName, Plan] = {}
        """The plans that this command has installed; the host's address is known only once a node exists."""

    async def check(self) -> None:
        """Raise UnavailableError unless kind can make nodes here."""
        folder = self._host.workdir.root
        if ":" in str(folder):
            # https://docs.docker.com/engine/storage/bind-mounts/: it parts the words of a volume.
            raise UnavailableError(
                f"kind cannot mount the work folder '{folder}': its path has a ':'",
                hint="choose another with KWOK_WORKDIR, or another --runtime",
            )
        await self._provider.check()

    def expect_nothing(self) -> None:
        """Plan for an engine that has nothing yet, though none answers."""
        self._engine.expect_nothing()

    def site(self, cluster: ClusterName) -> Site:
        """Return the addresses and paths as the node's pods, and the controller, see them."""
        return KindSite(shares_sockets=self._engine.endpoint.shares_this_kernel)

    async def install(self, plan: Plan) -> None:
        """Write how the node is made, and have its image; a node that is there stays as it is."""
        paths = self._paths(plan.cluster)
        for folder in (paths.root, paths.etcd_data, paths.logs, self._folder(plan.cluster)):
            private_folder(folder)
        self._plans[plan.cluster] = plan
        nodes = self._nodes(plan.cluster)
        containers = await nodes.all()
        node = nodes.made(containers)
        await self._install_here(plan, node)
        if node is None:
            nodes.refuse_strangers(containers)
            await self._write(plan, paths)
        await self._forget(plan, node)
        for component in placed(plan, on_host=False).components.values():
            if component.name not in MAKES:
                await self._pods(plan.cluster).describe(component, self._settings(plan))

    async def start(self, cluster: ClusterName, *names: ComponentName) -> None:
        """Start what does not run yet; make the node if there is none."""
        chosen = names or tuple(self._installed(cluster))
        inside = [name for name in chosen if name not in ON_HOST]
        if inside:
            await self._start_inside(cluster, inside)
        await self._crew(cluster).start([name for name in chosen if name in ON_HOST])

    async def stop(self, cluster: ClusterName, *names: ComponentName) -> None:
        """Ask the components to end; the node is stopped when none is left in it."""
        chosen = names or tuple(self._installed(cluster))
        await self._crew(cluster).stop([name for name in chosen if name in ON_HOST])
        inside = [name for name in chosen if name not in ON_HOST]
        container = await self._nodes(cluster).found()
        if not inside or not container or not container.is_running:
            return
        node = Node(self._engine, container)
        await node.stop(inside)
        ours = MAKES.union(self._inside(cluster))
        if ours.isdisjoint(await node.running()):
            await self._engine.stop(container.id, self._grace)
        else:
            await node.settle(inside)

    async def states(self, cluster: ClusterName) -> Mapping[ComponentName, State]:
        """Ask the engine for the programs of the node, and look at the processes."""
        container = await self._nodes(cluster).found()
        running: Collection[str] = ()
        if container and container.is_running:
            running = await Node(self._engine, container).running()
        there = {
            name: State.RUNNING if name in running else State.STOPPED
            for name in self._inside(cluster)
        }
        return {**there, **self._crew(cluster).states()}

    async def processes(self, cluster: ClusterName) -> Mapping[ComponentName, Collection[int]]:
        """Find the programs of the node, if they are this host's, and those on the host."""
        container = await self._nodes(cluster).found()
        found: dict[ComponentName, list[int]] = {}
        if container and container.is_running:
            programs = await self._engine.programs(container.id)
            for name in self._inside(cluster):
                found[name] = [pid for pid, program in programs.items() if program == name]
        return {**found, **self._crew(cluster).processes()}

    async def published(self, cluster: ClusterName) -> Collection[ComponentName]:
        """Return what is in the node, if that runs: an engine may have started it by itself.

        One that a killed run has left half made has them from before the engine says that it runs.
        """
        nodes = self._nodes(cluster)
        containers = await nodes.all()
        container = nodes.control_plane(containers)
        if container is None:
            return ()
        is_half_made = nodes.made(containers) is None
        return self._inside(cluster) if is_half_made or container.is_running else ()

    async def logs(
        self, cluster: ClusterName, name: ComponentName, *, follow: bool = False
    ) -> AsyncIterator[bytes]:
        """Read the log of a pod, or a log file of the host."""
        container = await self._nodes(cluster).found()
        if name not in self._inside(cluster):
            parts = logfiles.read(self._paths(cluster).log(name), follow=follow)
        elif container is None:
            return
        elif follow and container.is_running:
            parts = Node(self._engine, container).follow(name)
        else:
            parts = Node(self._engine, container).log(name)
        async for part in parts:
            yield part

    async def description(self, cluster: ClusterName) -> str:
        """Return the version of kind, and the engine's own account of itself."""
        version = await self._made(cluster).ask("version", environment=self._provider.environment)
        return f"{version.rstrip()}\n{await described(self._engine)}"

    async def host_of(self, cluster: ClusterName, name: ComponentName) -> str:
        """Return the address of the node, whose network its pods use."""
        if name in ON_HOST:
            return LOOPBACK
        container = await self._nodes(cluster).found()
        return await address_of(self._engine, container.id) if container else ""

    async def collect(self, cluster: ClusterName, folder: Path) -> None:
        """Let kind export the logs of the node."""
        creation, environment = self._made(cluster), self._provider.environment
        name = f"--name={creation.project}"
        await creation.ask("export", "logs", os.fspath(folder), name, environment=environment)

    def registered(self, cluster: ClusterName) -> Sequence[Mapping[str, Json]]:
        """Return the nodes as kind's own API server had them, if the cluster began with other data."""
        return self._nodes(cluster).registered()

    async def remains(self) -> Mapping[ClusterName, Collection[str]]:
        """Find the nodes that see the folders of this work folder's clusters."""
        return await remains(self._provider, self._host)

    async def uninstall(self, cluster: ClusterName) -> None:
        """Remove the nodes and the processes; the data on the host stay."""
        try:
            nodes = self._nodes(cluster)
            containers = await nodes.all()
            if nodes.control_plane(containers):
                await nodes.remove(containers)
        finally:
            # They are stopped even if the engine is gone.
            await self._crew(cluster).uninstall()
        remove_tree(self._folder(cluster))

    async def _write(self, plan: Plan, paths: ClusterPaths) -> None:
        if plan.maker is None or not plan.maker.image:
            raise ComponentError(
                f"'{self.maker}' is not available to make '{plan.cluster}'",
                hint="'kwokctl start cluster' gets it",
            )
        folder, patches = self._folder(plan.cluster), patches_folder(paths)
        has_cgroup_v1 = (await self._engine.info()).get("CgroupVersion") == "1"
        image = await self._image(plan, plan.maker.image)
        is_bare = await self.node_images.is_bare(image)
        host = await known_host(self._engine, plan)
        merged = configuration(plan, paths, has_cgroup_v1=has_cgroup_v1, is_bare=is_bare)
        remove_tree(patches)
        for component in placed(plan, on_host=False).components.values():
            make_files(component, paths)
            if component.name in MAKES:
                patch = knowing(pod_patch(component, settings=self._settings(plan)), host)
                write_atomic(patches / f"{component.name}{_PATCH}", yaml.dump_all([patch]))
        write_atomic(folder / CONFIGURATION, yaml.dump_all([merged]))
        self._nodes(plan.cluster).prepare(merged, program=plan.maker.command[0], image=image)

    async def _image(self, plan: Plan, named: str) -> str:
        """Return the image that the node was made of before, if it is still here, else the named."""
        with suppress(ComponentError):
            before = Creation.load(self._folder(plan.cluster)).image
            if await self.node_images.engine.has(before):
                return before
        kube = plan.components[KUBE_APISERVER].artifact.version
        return (await self.node_images.obtain(named, kube=kube)).name

    async def _start_inside(self, cluster: ClusterName, names: Collection[ComponentName]) -> None:
        container = await self._nodes(cluster).found()
        if container is None:
            container = await self._nodes(cluster).make(self._inside(cluster))
        await self._engine.start(container.name)
        node = Node(self._engine, container)
        if plan := self._plans.get(cluster):
            await self._install_here(plan, container)
            if not container.is_running:
                # A kubelet that has run the pod as it was does not start it changed.
                await node.mend(plan.components[ETCD], self._paths(cluster).root)
        pods = await self._pods(cluster).brought(names, container)
        await node.start(names, pods)

    async def _forget(self, plan: Plan, node: Container | None) -> None:
        """Take out of the node what is not in the plan any more."""
        gone = [name for name in self._inside(plan.cluster) if name not in plan.components]
        if gone and node and node.is_running:
            await Node(self._engine, node).forget(gone)
        for name in gone:
            self._pods(plan.cluster).forget(name)
            (patches_folder(self._paths(plan.cluster)) / f"{name}{_PATCH}").unlink(missing_ok=True)

    async def _install_here(self, plan: Plan, node: Container | None) -> None:
        """Write how the components on the host are launched, and where the node reaches them."""
        host = await self._nodes(plan.cluster).host_certified(node) if node else ""
        here = reached_by(placed(plan, on_host=True), host)
        await self._crew(plan.cluster).install(here)

    def _installed(self, cluster: ClusterName) -> list[ComponentName]:
        return [*self._inside(cluster), *self._crew(cluster).names()]

    def _inside(self, cluster: ClusterName) -> list[ComponentName]:
        files = patches_folder(self._paths(cluster)).glob(f"*{_PATCH}")
        made = [ComponentName(file.name.removesuffix(_PATCH)) for file in files]
        return sorted([*made, *self._pods(cluster).names()])

    def _settings(self, plan: Plan) -> PodSettings:
        return PodSettings(
            root=self._paths(plan.cluster).root,
            user=os.getuid(),
            group=os.getgid(),
            grace=self._grace,
            revive=plan.restart,
        )

    def _pods(self, cluster: ClusterName) -> PlacedPods:
        return PlacedPods(self._engine, self._folder(cluster) / "pods")

    def _made(self, cluster: ClusterName) -> Creation:
        return Creation.load(self._folder(cluster))

    def _nodes(self, cluster: ClusterName) -> KindNodes:
        return KindNodes(self._provider, cluster, self._paths(cluster))

    def _folder(self, cluster: ClusterName) -> Path:
        return self._nodes(cluster).folder

    def _paths(self, cluster: ClusterName) -> ClusterPaths:
        return self._host.cluster(cluster)

    def _crew(self, cluster: ClusterName) -> Crew:
        return Crew(self._paths(cluster), grace=self._grace)
