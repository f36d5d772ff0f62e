"""Measures a piece of work on a cluster: its time, CPU of each program, watchers that were ended."""

import asyncio
import resource
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from benchmarks.cluster import BenchCluster
from benchmarks.observer import Observer
from benchmarks.processes import cpu_seconds, resident_bytes
from kwokctl.kube.collections.server_metrics import ended_watches
from kwokctl.kube.transport.pool import Pool

COMMAND = "kwokctl"
"""The command that is waited for, beside the programs of the cluster."""
WATCHES = "these watches"
"""This process, whose watches run on the same processors."""
_PATIENCE = 3600.0


@dataclass(frozen=True, slots=True)
class Measured:
    """What a piece of work took."""

    seconds: float
    cpu: Mapping[str, float]
    """Seconds of each program, of the command and of our watches."""
    ended: int
    """Watchers that the API server has ended."""

    def each(self, count: int) -> dict[str, float]:
        """Return the milliseconds of CPU of each program that ran for one of `count` objects."""
        return {name: spent / count * 1000 for name, spent in self.cpu.items() if spent}


@dataclass(frozen=True, slots=True)
class Meter:
    """Looks at one cluster."""

    cluster: BenchCluster
    pool: Pool
    observer: Observer

    async def work(self, do: Callable[[], Awaitable[object]], done: Callable[[], bool]) -> Measured:
        """Do something, and measure it until the observer sees that it is done.

        CPU is counted until the command has ended, too. Raises TimeoutError after an hour.
        """
        ended, before = await ended_watches(self.pool), self._spent()
        began = time.perf_counter()
        async with asyncio.timeout(_PATIENCE), asyncio.TaskGroup() as tasks:
            tasks.create_task(_awaited(do))
            await self.observer.until(done)
            took = time.perf_counter() - began
        cpu = _difference(self._spent(), before)
        return Measured(took, cpu, await ended_watches(self.pool) - ended)

    async def command(self, do: Callable[[], Awaitable[object]]) -> Measured:
        """Do something while no other client watches, and measure it until it has returned."""
        ended, before = await ended_watches(self.pool), self._spent()
        began = time.perf_counter()
        await do()
        took = time.perf_counter() - began
        cpu = _difference(self._spent(), before)
        return Measured(took, cpu, await ended_watches(self.pool) - ended)

    async def rest(self, seconds: float) -> Measured:
        """Measure what is spent while nothing is asked for."""
        before, began = self._spent(), time.perf_counter()
        await asyncio.sleep(seconds)
        took = time.perf_counter() - began
        return Measured(took, _difference(self._spent(), before), 0)

    def memory(self) -> dict[str, float]:
        """Return the resident memory of each program in MB."""
        return {name: resident_bytes(pid) / 1e6 for name, pid in self.cluster.programs.items()}

    def _spent(self) -> dict[str, float]:
        spent = {name: cpu_seconds(pid) for name, pid in self.cluster.programs.items()}
        commands = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = commands.ru_utime + commands.ru_stime
        return spent | {COMMAND: command, WATCHES: time.process_time()}


async def _awaited(do: Callable[[], Awaitable[object]]) -> None:
    await do()


def _difference(after: dict[str, float], before: dict[str, float]) -> dict[str, float]:
    return {name: spent - before[name] for name, spent in after.items()}
