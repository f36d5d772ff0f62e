"""Manages the components of a cluster that are processes of this host.

Runtimes use it for all of their components, or for the controller alone.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping

from kwokctl.errors import UsageError
from kwokctl.host import logfiles
from kwokctl.host.carry_out import carry_out
from kwokctl.host.files import remove_tree
from kwokctl.host.paths import ClusterPaths
from kwokctl.host.processes.crew_script import CrewScript
from kwokctl.host.processes.forks import preloaded
from kwokctl.host.processes.holding import HeldFile
from kwokctl.host.processes.identify import Working, find_process, working_for
from kwokctl.host.processes.launcher import launch
from kwokctl.host.processes.launches import KEEPER, Launches
from kwokctl.host.processes.lifecycle import (
    kill_component,
    replace_held,
    start_component,
    stop_component,
)
from kwokctl.host.processes.supervise import is_running, killed_by, launched, read_pid_file
from kwokctl.model import ComponentName, Plan, State
from kwokctl.script.steps import Folder

GRACE = 30.0
"""Seconds that a component has to end by itself; each needs less than two. A pod has as many."""


class Crew:
    """Processes, each in a session of its own, and a keeper beside them if they are to be revived."""

    def __init__(self, paths: ClusterPaths, *, grace: float = GRACE) -> None:
        """Keep files in the cluster's folders; `grace` are the seconds before a stop becomes a kill."""
        self._launches = Launches(paths)
        self._grace = grace

    async def install(self, plan: Plan) -> None:
        """Write how every component of the plan is launched; what is not in it is stopped.

        Raises UsageError for a component that has limits.
        """
        _refuse_limits(plan)
        launches = self._launches
        carry_out(launches.installation(plan))
        for name in launches.names():
            if name not in plan.components:
                await stop_component(launches, name, self._grace)
                launches.forget(name)
        if plan.restart:
            launches.keep_mark.touch()
        else:
            launches.keep_mark.unlink(missing_ok=True)

    def script(self, plan: Plan, *, first: Iterable[Folder] = ()) -> CrewScript:
        """Return what this crew does for one plan as steps of a script; UsageError as `install` raises it.

        Its installation begins with the folders `first`.
        """
        _refuse_limits(plan)
        return CrewScript(self._launches, plan, first=tuple(first), grace=self._grace)

    def names(self) -> list[ComponentName]:
        """List the installed components."""
        return self._launches.names()

    async def start(self, names: Collection[ComponentName]) -> None:
        """Launch what does not run yet."""
        launches = self._launches
        for name in names:
            launches.stopped_mark(name).unlink(missing_ok=True)
        # A launch takes a few milliseconds, and programs run side by side once launched.
        with preloaded([launches.read(name).argv for name in self._not_running(names)]) as forks:
            for name in names:
                await start_component(launches, name, why="started by kwokctl", forks=forks)
        if names and launches.keep_mark.exists():
            await self._start_keeper()

    async def replace_held(self, names: Collection[ComponentName]) -> Callable[[], None]:
        """Stop components, and launch again those that can be made to wait before they act.

        Returns what lets these act.
        """
        self._mark_stopped(names)
        holds: list[HeldFile] = []

        async def replace(name: ComponentName) -> None:
            hold = await replace_held(self._launches, name, self._grace, why="started by kwokctl")
            holds.extend([hold] if hold else [])

        def let_go() -> None:
            while holds:
                holds.pop().let_go()

        try:
            async with asyncio.TaskGroup() as tasks:
                for name in names:
                    tasks.create_task(replace(name))
        except BaseException:
            let_go()
            raise
        return let_go

    async def stop(self, names: Collection[ComponentName]) -> None:
        """Ask the components to end, all at once, and kill those that do not."""
        await self._stop_together(names)
        if not self._launches.wanted():
            # It would end by itself, but must not do so while the next start counts on it.
            await stop_component(self._launches, KEEPER, self._grace)

    def states(self) -> Mapping[ComponentName, State]:
        """Look at every process."""
        working = working_for(self._launches)
        return {name: self._state(name, working) for name in self._launches.names()}

    def processes(self) -> dict[ComponentName, Collection[int]]:
        """Return the process of each component that runs."""
        found = ((n, read_pid_file(self._launches.pid_file(n))) for n in self._launches.names())
        return {name: [process.pid] for name, process in found if process and process.is_alive}

    def words(self, name: ComponentName) -> list[str]:
        """Return the command that a component is running; empty if it does not run."""
        process = read_pid_file(self._launches.pid_file(name))
        return process.words if process else []

    async def logs(self, name: ComponentName, *, follow: bool = False) -> AsyncIterator[bytes]:
        """Read the log file and its older parts."""
        path = self._launches.paths.log(name)
        # The API server rotates the audit log itself, and does not append to it from then on.
        if name in self._launches.names():
            logfiles.rotate(path)
        async for chunk in logfiles.read(path, follow=follow):
            yield chunk

    async def uninstall(self) -> None:
        """Kill what runs, and remove what was written for it.

        The data are deleted anyway, so no component gets time to end by itself, and none is waited for once it
        cannot write any more. Nothing is written here: the disk may be full.
        """
        launches = self._launches
        launches.keep_mark.unlink(missing_ok=True)
        await kill_component(launches, KEEPER)
        # Clients before servers, all before the first has ended: they take their time for that.
        names = [name for wave in launches.stop_waves() for name in wave]
        async with asyncio.TaskGroup() as tasks:
            for name in names:
                tasks.create_task(kill_component(launches, name))
        for folder in (launches.paths.launch, launches.paths.pids, launches.paths.logs):
            remove_tree(folder)

    async def _stop_together(self, names: Collection[ComponentName]) -> None:
        self._mark_stopped(names)
        async with asyncio.TaskGroup() as tasks:
            for name in names:
                tasks.create_task(stop_component(self._launches, name, self._grace))

    def _mark_stopped(self, names: Collection[ComponentName]) -> None:
        if self._launches.paths.pids.is_dir():
            for name in names:
                self._launches.stopped_mark(name).touch()

    def _not_running(self, names: Collection[ComponentName]) -> list[ComponentName]:
        return [name for name in names if not is_running(self._launches.pid_file(name))]

    async def _start_keeper(self) -> None:
        paths, pid_file = self._launches.paths, self._launches.pid_file(KEEPER)
        if is_running(pid_file):
            return
        pid = launch(
            self._launches.keeper_words,
            pid_file=pid_file,
            log=paths.logs / f"{KEEPER}.log",
            folder=paths.root,
            env={},
        )
        await launched(pid)

    def _state(self, name: ComponentName, working: Working) -> State:
        launches = self._launches
        # No process is searched for where a component was stopped on purpose: there may be many stopped clusters.
        process = (
            find_process(launches, name, working)
            if launches.is_wanted(name)
            else read_pid_file(launches.pid_file(name))
        )
        if process and process.is_alive:
            return State.RUNNING
        if process and (number := killed_by(process.pid)):
            logfiles.mark_killed(launches.paths.log(name), number)
        return State.STOPPED


def _refuse_limits(plan: Plan) -> None:
    for component in plan.components.values():
        if component.limits:
            raise UsageError(
                f"'{component.name}' is a process of this machine on this runtime, and processes have no limits",
                hint="choose a runtime that runs it in a container, or leave the limit out",
            )
