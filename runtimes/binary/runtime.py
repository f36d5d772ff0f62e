"""Places components as processes of this host."""

import asyncio
import os
import platform
import sys
from collections.abc import AsyncIterator, Collection, Mapping

from kwokctl.errors import UnavailableError
from kwokctl.host import logfiles
from kwokctl.host.files import private_folder, remove_tree
from kwokctl.host.launcher import launch
from kwokctl.host.machine import Host
from kwokctl.host.supervise import is_running, launched, read_pid_file, reap
from kwokctl.model import ClusterName, ComponentName, Plan, State
from kwokctl.runtime import Site
from runtimes.binary.launches import Launches
from runtimes.binary.lifecycle import start_component, stop_component
from runtimes.binary.site import HostSite

_MACHINES = {"x86_64", "amd64", "aarch64", "arm64"}
_GRACE = 10.0
"""Seconds that a component has to end by itself; each needs less than two."""
_LAST_GRACE = 0.5
"""The same where everything is removed: an API server that never found its etcd would use it all."""
KEEPER = "keeper"


class BinaryRuntime:
    """Every component is a process in a session of its own."""

    name = "binary"

    def __init__(self, host: Host, *, grace: float = _GRACE) -> None:
        """Keep clusters in the folders of this host."""
        self._host = host
        self._grace = grace

    async def check(self) -> None:
        """Raise UnavailableError unless the upstream programs run here."""
        if sys.platform != "linux" or platform.machine().lower() not in _MACHINES:
            raise UnavailableError(
                "the binary runtime needs Linux on amd64 or arm64",
                hint="use a Linux machine or virtual machine",
            )

    def site(self, cluster: ClusterName) -> Site:  # noqa: ARG002 - one host, one site
        """Return the host's own view."""
        return HostSite()

    async def install(self, plan: Plan) -> None:
        """Write how every component is launched."""
        launches = self._launches(plan.cluster)
        for folder in (launches.paths.root, launches.paths.etcd_data):
            private_folder(folder)
        for folder in (launches.paths.logs, launches.paths.pids):
            folder.mkdir(parents=True, exist_ok=True)
        launches.write(plan)
        for name in launches.names():
            if name not in plan.components:
                await stop_component(launches, name, self._grace)
                launches.forget(name)
        if plan.restart:
            launches.keep_mark.touch()
        else:
            launches.keep_mark.unlink(missing_ok=True)

    async def start(self, cluster: ClusterName, *names: ComponentName) -> None:
        """Launch what does not run yet."""
        launches = self._launches(cluster)
        chosen = names or tuple(launches.names())
        for name in chosen:
            launches.stopped_mark(name).unlink(missing_ok=True)
        # A launch takes a few milliseconds, and programs run side by side once launched.
        for name in chosen:
            await start_component(launches, name, why="started by kwokctl")
        if launches.keep_mark.exists():
            await self._start_keeper(launches)

    async def stop(self, cluster: ClusterName, *names: ComponentName) -> None:
        """Ask the components to end, all at once, and kill those that do not."""
        launches = self._launches(cluster)
        await self._stop_together(launches, names or tuple(launches.names()), self._grace)
        if not launches.wanted():
            # It would end by itself, but must not do so while the next start counts on it.
            await stop_component(launches, KEEPER, self._grace)

    async def states(self, cluster: ClusterName) -> Mapping[ComponentName, State]:
        """Look at every pid file."""
        launches = self._launches(cluster)
        return {name: self._state(launches, name) for name in launches.names()}

    async def logs(
        self, cluster: ClusterName, name: ComponentName, *, follow: bool = False
    ) -> AsyncIterator[bytes]:
        """Read the log file and its older parts."""
        path = self._launches(cluster).paths.log(name)
        logfiles.rotate(path)
        async for chunk in logfiles.read(path, follow=follow):
            yield chunk

    async def uninstall(self, cluster: ClusterName) -> None:
        """Stop what runs, clients before servers, and remove what was written for it."""
        launches = self._launches(cluster)
        launches.keep_mark.unlink(missing_ok=True)
        await stop_component(launches, KEEPER, self._grace)
        for wave in launches.stop_waves():
            await self._stop_together(launches, wave, min(self._grace, _LAST_GRACE))
        for folder in (launches.paths.launch, launches.paths.pids, launches.paths.logs):
            remove_tree(folder)

    def _launches(self, cluster: ClusterName) -> Launches:
        return Launches(self._host.cluster(cluster))

    async def _stop_together(
        self, launches: Launches, names: Collection[ComponentName], grace: float
    ) -> None:
        if launches.paths.pids.is_dir():
            for name in names:
                launches.stopped_mark(name).touch()
        async with asyncio.TaskGroup() as tasks:
            for name in names:
                tasks.create_task(stop_component(launches, name, grace))

    async def _start_keeper(self, launches: Launches) -> None:
        pid_file = launches.pid_file(KEEPER)
        if is_running(pid_file):
            return
        root = os.fspath(launches.paths.root)
        pid = launch(
            [sys.executable, "-P", "-m", "runtimes.binary.keeper", root],
            pid_file=pid_file,
            log=launches.paths.logs / f"{KEEPER}.log",
            folder=launches.paths.root,
            env={},
        )
        await launched(pid)

    @staticmethod
    def _state(launches: Launches, name: ComponentName) -> State:
        process = read_pid_file(launches.pid_file(name))
        if process is None:
            return State.STOPPED
        if process.is_alive:
            return State.RUNNING
        reap(process.pid)
        return State.STOPPED
