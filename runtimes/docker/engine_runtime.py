"""Places components as containers of one network, and the controller beside them on the host."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping

from kwokctl.errors import CommandError, ComponentError, NotFoundError
from kwokctl.host import logfiles
from kwokctl.host.carry_out import carry_out, work_folders
from kwokctl.host.machine import Host
from kwokctl.host.paths import ClusterPaths
from kwokctl.host.processes.manager import GRACE, Crew
from kwokctl.model import ClusterName, Component, ComponentName, NodeAddress, Plan, State
from kwokctl.runtime import HOST, RuntimeScript, Site
from kwokctl.script.steps import later
from kwokctl.tasks import all_of
from runtimes.docker.command import TOOLS
from runtimes.docker.script import GATEWAY as GATEWAY_VARIABLE
from runtimes.docker.script import NETWORK, ContainerScript
from runtimes.docker.specification import (
    CLUSTER,
    COMPONENT,
    FOLDER,
    SPECIFICATION,
    ContainerPlacement,
    Naming,
    specify,
)
from runtimes.engine.engine_client import Container, Engine
from runtimes.engine.engine_images import EngineImages, image_of
from runtimes.engine.engine_logs import follow_log
from runtimes.engine.privileges import (
    demand_limits,
    demand_root,
    is_a_users_podman,
    user_of_containers,
)
from runtimes.engine.remarks import described, remark_on
from runtimes.engine.site import (
    GATEWAY,
    LOOPBACK,
    ON_HOST,
    EngineSite,
    address_of,
    extra_host,
    future_host_address,
    host_address,
    placed,
    reached_by,
)

PODMAN = "podman"


class EngineRuntime:
    """Every component is a container, found again by its labels; nothing of it is kept on disk."""

    def __init__(
        self, host: Host, engine: Engine, *, name: str = "docker", grace: float = GRACE
    ) -> None:
        """Keep clusters in the folders of this host, and their containers in this engine.

        `name` is that of the runtime.
        """
        self.name = name
        self._host = host
        self._engine = engine
        self._grace = grace
        self.images = EngineImages(engine)

    async def check(self) -> None:
        """Raise UnavailableError unless an engine of this machine answers that root runs, or Podman."""
        await self._engine.check()
        if not await is_a_users_podman(self._engine):
            await demand_root(self._engine)

    def expect_nothing(self) -> None:
        """Plan for an engine that has nothing yet, though none answers."""
        self._engine.expect_nothing()

    def site(self, cluster: ClusterName) -> Site:
        """Return the addresses and paths as the containers, and the controller, see them."""
        return DockerSite(shares_sockets=self._engine.endpoint.shares_this_kernel)

    async def install(self, plan: Plan) -> None:
        """Make images, network and containers; a running container stays as it is."""
        paths = self._paths(plan.cluster)
        carry_out(work_folders(paths))
        naming = self._naming(plan.cluster)
        found = await self._found(plan.cluster)
        wanted = placed(plan, on_host=False).components
        await demand_limits(self._engine, wanted.values())
        network, gateway = await self._engine.network(naming.network, naming.labels, naming.marks)
        host = await host_address(self._engine, gateway)
        place = await self._placement(plan.cluster, network, host)
        here = reached_by(placed(plan, on_host=True), host)
        await self._crew(plan.cluster).install(here)
        await all_of(
            self._provide(each, found.get(name), place, revive=plan.restart)
            for name, each in wanted.items()
        )
        await all_of(
            self._engine.remove(each.id) for name, each in found.items() if name not in wanted
        )

    async def start(self, cluster: ClusterName, *names: ComponentName) -> None:
        """Start what does not run yet."""
        found, crew = await self._found(cluster), self._crew(cluster)
        chosen = names or (*found, *crew.names())
        await all_of(self._start(name, found.get(name)) for name in chosen if name not in ON_HOST)
        await crew.start([name for name in chosen if name in ON_HOST])

    async def stop(self, cluster: ClusterName, *names: ComponentName) -> None:
        """Ask the components to end, all at once; the engine kills those that do not."""
        found, crew = await self._found(cluster), self._crew(cluster)
        here = [name for name in names or crew.names() if name in ON_HOST]
        # Also what does not run: the engine may be about to restart it.
        there = [found[name] for name in names or found if name in found]
        await all_of(
            [
                crew.stop(here),
                *(self._engine.stop(container.id, self._grace) for container in there),
            ]
        )

    async def states(self, cluster: ClusterName) -> Mapping[ComponentName, State]:
        """Ask the engine for the containers, and look at the processes."""
        found = await self._found(cluster)
        there = {
            name: State.RUNNING if container.is_running else State.STOPPED
            for name, container in found.items()
        }
        return {**there, **self._crew(cluster).states()}

    async def remarks(self, cluster: ClusterName) -> Mapping[ComponentName, str]:
        """Ask the engine why containers ended, and how often they were restarted."""
        found = await self._found(cluster)
        reasons = await asyncio.gather(*(remark_on(self._engine, c.id) for c in found.values()))
        return {name: remark for name, remark in zip(found, reasons, strict=True) if remark}

    async def logs(
        self, cluster: ClusterName, name: ComponentName, *, follow: bool = False
    ) -> AsyncIterator[bytes]:
        """Read what the engine has kept, or the log file of what is on the host."""

        async def find() -> Container | None:
            return (await self._found(cluster)).get(name)

        container = None if name in ON_HOST else await find()
        if container is None:
            async for part in logfiles.read(self._paths(cluster).log(name), follow=follow):
                yield part
        elif follow:
            async for part in follow_log(self._engine, find):
                yield part
        else:
            yield await self._engine.log(container.id)

    async def description(self, cluster: ClusterName) -> str:
        """Return the engine's own account of itself."""
        return await described(self._engine)

    async def host_of(self, cluster: ClusterName, name: ComponentName) -> str:
        """Return the address of a container in the cluster's network, if that is this host's."""
        if await is_a_users_podman(self._engine):
            return ""
        container = (await self._found(cluster)).get(name)
        return await address_of(self._engine, container.id) if container else LOOPBACK

    async def processes(self, cluster: ClusterName) -> Mapping[ComponentName, Collection[int]]:
        """Find the processes of the containers, if they are this host's, and those on the host."""
        running = {n: c.id for n, c in (await self._found(cluster)).items() if c.is_running}
        inside = await asyncio.gather(*map(self._engine.programs, running.values()))
        found = dict(zip(running, map(list, inside), strict=True))
        return {**found, **self._crew(cluster).processes()}

    async def remains(self) -> Mapping[ClusterName, Collection[str]]:
        """Find the containers of this work folder's clusters by their labels."""
        found: dict[ClusterName, list[str]] = {}
        for each in await self._engine.containers({CLUSTER: "", FOLDER: ""}):
            name = ClusterName(each.labels[CLUSTER])
            if each.labels[FOLDER] == str(self._paths(name).root):
                found.setdefault(name, []).append(each.name)
        return found

    async def script(self, plan: Plan) -> RuntimeScript:
        """Return what is done for a plan as steps of a script."""
        naming = self._naming(plan.cluster)
        known = await self._engine.found_network(naming.network, naming.labels)
        if known:
            network, host = known[0], await host_address(self._engine, known[1])
        else:
            to_be = later(GATEWAY_VARIABLE)
            network, host = later(NETWORK), await future_host_address(self._engine, to_be)
        return ContainerScript(
            tool=TOOLS[self._engine.command],
            plan=placed(plan, on_host=False),
            paths=self._paths(plan.cluster),
            found=await self._found(plan.cluster),
            place=await self._placement(plan.cluster, network, host),
            is_networked=known is not None,
            crew=self._crew(plan.cluster).script(reached_by(placed(plan, on_host=True), host)),
            grace=self._grace,
        )

    async def uninstall(self, cluster: ClusterName) -> None:
        """Remove containers, network and processes; the folders of the host stay."""
        naming = self._naming(cluster)
        try:
            found = await self._engine.containers(naming.labels)
            await all_of(self._engine.remove(container.id) for container in found)
            await self._engine.remove_networks(naming.labels)
        finally:
            # They are stopped even if the engine is gone.
            await self._crew(cluster).uninstall()

    async def _provide(
        self,
        component: Component,
        found: Container | None,
        place: ContainerPlacement,
        *,
        revive: bool,
    ) -> None:
        """Make the container as it is described, unless it runs already."""
        if found and found.is_running:
            return
        for mount in component.mounts:
            if not (mount.read_only or mount.host_path.exists()):
                mount.host_path.mkdir(parents=True, exist_ok=True)
        body = specify(
            component,
            image=await image_of(self.images, component),
            place=place,
            revive=revive,
        )
        if found and found.labels[SPECIFICATION] == body["Labels"][SPECIFICATION]:
            return
        if found:
            await self._engine.remove(found.id)
        await self._engine.create(place.naming.container(component.name), body)

    async def _start(self, name: ComponentName, container: Container | None) -> None:
        if container is None:
            raise ComponentError(
                f"'{name}' cannot be started: its container is gone",
                hint="'kwokctl start cluster' creates it again",
            )
        try:
            await self._engine.start(container.name)
        except (CommandError, NotFoundError) as e:
            raise ComponentError(
                f"'{name}' cannot be started by the container engine",
                hint="see whether its program was built for this machine, and statically",
                detail=e.detail,
            ) from e

    async def _placement(self, cluster: ClusterName, network: str, host: str) -> ContainerPlacement:
        return ContainerPlacement(
            naming=self._naming(cluster),
            network=network,
            host=extra_host(host),
            user=user_of_containers(without_root=await is_a_users_podman(self._engine)),
        )

    async def _found(self, cluster: ClusterName) -> dict[ComponentName, Container]:
        containers = await self._engine.containers(self._naming(cluster).labels)
        return {ComponentName(container.labels[COMPONENT]): container for container in containers}

    def _naming(self, cluster: ClusterName) -> Naming:
        return Naming(cluster, self._paths(cluster).root, is_podman=self.name == PODMAN)

    def _paths(self, cluster: ClusterName) -> ClusterPaths:
        return self._host.cluster(cluster)

    def _crew(self, cluster: ClusterName) -> Crew:
        return Crew(self._paths(cluster), grace=self._grace)


class DockerSite(EngineSite, frozen=True):
    """Files and ports have the same names as on the host."""

    def address(
        self, component: ComponentName, port: int, *, dialler: ComponentName | None = None
    ) -> str:
        """Return a name in the cluster's network, or the published port for clients on the host."""
        if dialler is None or dialler in ON_HOST:
            return f"{LOOPBACK}:{port}"
        return f"{HOST if component in ON_HOST else component}:{port}"

    def port(self, component: ComponentName, host_port: int) -> int:
        """Return the port itself."""
        return host_port

    @property
    def has_own_nodes(self) -> bool:
        """Return True: every node is a fake one."""
        return False

    def node_address(self) -> NodeAddress:
        """Return the host as containers see it."""
        return NodeAddress(name=HOST, ip=GATEWAY)
