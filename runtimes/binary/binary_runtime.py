"""Places components as processes of this host."""

import sys
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from pathlib import Path, PurePath

import msgspec

from kwokctl.artifacts.program_platform import here
from kwokctl.errors import UnavailableError
from kwokctl.host.carry_out import carry_out, work_folders
from kwokctl.host.machine import Host
from kwokctl.host.platforms import machine_name, way
from kwokctl.host.processes.manager import GRACE, Crew
from kwokctl.model import ClusterName, ComponentName, NodeAddress, Plan, State
from kwokctl.runtime import RuntimeScript, Site

_MACHINES = {"x86_64", "amd64", "aarch64", "arm64"}


_OPEN = "--listen-peer-urls=unix:///"
"""The beginning of older versions' peer URL: every local user can connect to that listener."""


_LOOPBACK = "127.0.0.1"


def _is_open(words: Sequence[str]) -> bool:
    return any(word.startswith(_OPEN) for word in words)


class BinaryRuntime:
    """Every component is a process in a session of its own."""

    name = "binary"

    def __init__(self, host: Host, *, grace: float = GRACE) -> None:
        self._host = host
        self._grace = grace

    async def check(self) -> None:
        """Raise UnavailableError unless the upstream programs run here."""
        if sys.platform != "linux" or machine_name() not in _MACHINES:
            raise UnavailableError(
                "the binary runtime needs Linux on amd64 or arm64",
                hint=way(),
            )

    def site(self, cluster: ClusterName) -> Site:
        """Return the host's own view."""
        return HostSite()

    async def install(self, plan: Plan) -> None:
        """Write how every component is launched."""
        paths = self._host.cluster(plan.cluster)
        carry_out(work_folders(paths))
        await self._crew(plan.cluster).install(plan)

    async def script(self, plan: Plan) -> RuntimeScript:
        """Return what is done for a plan as steps of a script."""
        first = work_folders(self._host.cluster(plan.cluster))
        return self._crew(plan.cluster).script(plan, first=first)

    async def start(self, cluster: ClusterName, *names: ComponentName) -> None:
        """Launch what does not run yet, and restart what a former version has left open to others."""
        crew = self._crew(cluster)
        chosen = names or crew.names()
        await crew.stop([name for name in chosen if _is_open(crew.words(name))])
        await crew.start(chosen)

    async def replace_held(self, cluster: ClusterName, *names: ComponentName) -> Callable[[], None]:
        """Stop components, and launch again those that can wait; return what lets them act."""
        return await self._crew(cluster).replace_held(names)

    async def stop(self, cluster: ClusterName, *names: ComponentName) -> None:
        """Ask the components to end, all at once, and kill those that do not."""
        crew = self._crew(cluster)
        await crew.stop(names or crew.names())

    async def states(self, cluster: ClusterName) -> Mapping[ComponentName, State]:
        """Look at every process."""
        return self._crew(cluster).states()

    async def logs(
        self, cluster: ClusterName, name: ComponentName, *, follow: bool = False
    ) -> AsyncIterator[bytes]:
        """Read the log file and its older parts."""
        async for chunk in self._crew(cluster).logs(name, follow=follow):
            yield chunk

    async def description(self, cluster: ClusterName) -> str:
        """Return the system and the processor: nothing else is used."""
        target = here()
        return f"{target.os}/{target.arch}"

    async def host_of(self, cluster: ClusterName, name: ComponentName) -> str:
        """Return this host's loopback address."""
        return _LOOPBACK

    async def processes(self, cluster: ClusterName) -> Mapping[ComponentName, Collection[int]]:
        """Return the processes of this host."""
        return self._crew(cluster).processes()

    async def uninstall(self, cluster: ClusterName) -> None:
        """Stop what runs, clients before servers, and remove what was written for it."""
        await self._crew(cluster).uninstall()

    def _crew(self, cluster: ClusterName) -> Crew:
        return Crew(self._host.cluster(cluster), grace=self._grace)


class HostSite(msgspec.Struct, frozen=True):
    """Files, sockets and ports are where they are."""

    def bind(self, component: ComponentName) -> str:
        """Return the loopback address."""
        return _LOOPBACK

    def path(self, host_path: Path) -> PurePath:
        """Return the path itself."""
        return host_path

    def socket(self, host_path: Path) -> PurePath | None:
        """Return the socket itself."""
        return host_path

    def address(
        self,
        component: ComponentName,
        port: int,
        *,
        dialler: ComponentName | None = None,
    ) -> str:
        """Return the loopback address, on which every component can be dialled."""
        return f"{_LOOPBACK}:{port}"

    def port(self, component: ComponentName, host_port: int) -> int:
        """Return the port itself."""
        return host_port

    @property
    def has_own_nodes(self) -> bool:
        """Return True: every node is a fake one."""
        return False

    def node_address(self) -> NodeAddress:
        """Return this host, as every process on it names it."""
        return NodeAddress(name="localhost", ip=_LOOPBACK)
