"""Restarts components that have died: `python -m kwokctl.host.processes.restarter CLUSTER-FOLDER`.

It runs beside a cluster made with `--restart on-failure`, and ends by itself when every component
has been stopped on purpose.
"""

import asyncio
import sys
from pathlib import Path

from kwokctl.errors import KwokctlError
from kwokctl.host import logfiles
from kwokctl.host.paths import ClusterPaths
from kwokctl.host.processes.launches import Launches
from kwokctl.host.processes.lifecycle import start_component
from kwokctl.host.processes.supervise import read_pid_file, reap
from kwokctl.model import ComponentName

_POLL = 0.5
_FIRST_DELAY = 1.0
_LONGEST_DELAY = 30.0
_SETTLED_AFTER = 60.0
"""After this many seconds of running a component's earlier failures no longer count."""


class Keeper:
    """Watches the components of one cluster."""

    def __init__(self, launches: Launches) -> None:
        self._launches = launches
        self._due: dict[ComponentName, float] = {}
        self._delay: dict[ComponentName, float] = {}
        self._started: dict[ComponentName, float] = {}

    async def run(self) -> None:
        """Restart components until the cluster is stopped or deleted."""
        clock = asyncio.get_running_loop().time
        while self._launches.keep_mark.exists() and (wanted := self._launches.wanted()):
            for name in wanted:
                await self._look(name, clock())
                logfiles.rotate(self._launches.paths.log(name))
            await asyncio.sleep(_POLL)

    async def _look(self, name: ComponentName, now: float) -> None:
        """Launch a dead component after its delay, which grows with each death."""
        pid_file = self._launches.pid_file(name)
        process = read_pid_file(pid_file)
        if process is None:
            # Never launched yet: `start` does that.
            return
        if process.is_alive:
            if now - self._started.get(name, now) > _SETTLED_AFTER:
                self._delay.pop(name, None)
            return
        reap(process.pid)
        if name not in self._due:
            delay = self._delay.get(name, _FIRST_DELAY)
            self._due[name] = now + delay
            self._delay[name] = min(delay * 2, _LONGEST_DELAY)
        elif now >= self._due[name]:
            del self._due[name]
            self._started[name] = now
            await self._start(name)

    async def _start(self, name: ComponentName) -> None:
        try:
            await start_component(
                self._launches, name, why="started again: it had died", even_if_stopped=False
            )
        except KwokctlError as e:
            logfiles.mark(self._launches.paths.log(name), f"not started again: {e}")


if __name__ == "__main__":
    asyncio.run(Keeper(Launches(ClusterPaths(Path(sys.argv[1])))).run())
