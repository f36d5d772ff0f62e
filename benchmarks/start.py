"""How long a large cluster takes to start and to come back from its snapshot, beside an empty one that starts.

    python -m benchmarks.start [--scale 0.02] [--rounds 3] [--into FILE]

A large and an empty cluster are started in turns; each is stopped while the other is measured. The large
one is restored before each of its starts, so that all of them begin with the same data. A start and a
restore end when every component is ready. The controller must not be later than the scheduler, which
reads the same nodes and pods.
"""

import argparse
import asyncio
import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.cluster import BenchCluster, fresh_cluster
from benchmarks.create import wait_for
from benchmarks.goals import ROWS
from benchmarks.ledger import Ledger
from benchmarks.processes import CONTROLLER, cpu_seconds, peak_bytes, programs
from benchmarks.results import FILE
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import load
from kwokctl.host.paths import WorkDir, cache_dir
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import load_access
from kwokctl.model import (
    KUBE_APISERVER,
    KUBE_SCHEDULER,
    KWOK_CONTROLLER,
    ClusterName,
    Component,
    ComponentName,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """What a start took."""

    seconds: float
    """Until the command has ended, which waits for every component."""
    ready: Mapping[ComponentName, float]
    """When each component was ready, in seconds after the start of the command."""
    cpu: Mapping[str, float]
    """Seconds of each program until then."""
    peak: float
    """Bytes of memory that the controller has held at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """Both clusters, once."""

    empty: Started
    large: Started
    restored: float
    """Seconds of a restore of the large one, which ran."""


def main() -> None:
    """Fill one of two clusters, then start them again and again."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies all counts")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--into", type=Path, help="JSON file that figures are added to")
    options = parser.parse_args()
    into = options.into or (FILE if options.scale == 1 else None)
    with fresh_cluster() as empty, fresh_cluster() as large:
        asyncio.run(_story(empty, large, options.scale, options.rounds, into))


async def _story(
    empty: BenchCluster, large: BenchCluster, scale: float, rounds: int, into: Path | None
) -> None:
    await empty.kwokctl("stop", "cluster")
    nodes, pods = (round(count * scale) for count in (ROWS["start"].nodes, ROWS["start"].count))
    async with large.pool() as pool:
        ledger = await Ledger.open(large, Client(pool), into)
    await large.kwokctl("scale", "node", f"--replicas={nodes}", "--wait=30m")
    await large.kwokctl("scale", "pod", f"--replicas={pods}", "--on-nodes=", "--wait=30m")
    file = large.workdir / "snapshot.db"
    await large.kwokctl("snapshot", "save", f"--path={file}")
    found = [await _round(empty, large, file) for _ in range(rounds)]
    _Report(ledger, nodes, pods).all(found)


async def _round(empty: BenchCluster, large: BenchCluster, file: Path) -> Round:
    await large.kwokctl("stop", "cluster")
    least = await _start(empty)
    await empty.kwokctl("stop", "cluster")
    await large.kwokctl("start", "cluster", "--wait=10m")
    began = time.perf_counter()
    await large.kwokctl("snapshot", "restore", f"--path={file}")
    restored = time.perf_counter() - began
    await large.kwokctl("stop", "cluster")
    return Round(empty=least, large=await _start(large), restored=restored)


async def _start(cluster: BenchCluster) -> Started:
    """Start a cluster that is stopped."""
    began = time.perf_counter()
    async with asyncio.TaskGroup() as tasks:
        waits = {c.name: tasks.create_task(_ready(c, began)) for c in _components(cluster)}
        await cluster.kwokctl("start", "cluster", "--wait=10m")
    seconds = time.perf_counter() - began
    running = programs(urlsplit(load_access(cluster.paths.kubeconfig).server).port or 443)
    return Started(
        seconds=seconds,
        ready={name: wait.result() for name, wait in waits.items()},
        cpu={name: cpu_seconds(pid) for name, pid in running.items()},
        peak=peak_bytes(running[CONTROLLER]),
    )


def _components(cluster: BenchCluster) -> Sequence[Component]:
    home = Home(workdir=WorkDir(cluster.workdir), cache=cache_dir())
    saved = load(cluster.paths, ClusterName(cluster.paths.root.name))
    plan = saved.plan(home.runtime(saved.options.runtime), cluster.paths)
    return tuple(plan.components.values())


async def _ready(component: Component, began: float) -> float:
    """Return when every probe of a component holds."""
    for each in component.ready:
        await wait_for(each)
    return time.perf_counter() - began


@dataclass(frozen=True, slots=True)
class _Report:
    """Notes medians of what was measured."""

    ledger: Ledger
    nodes: int
    pods: int

    def all(self, rounds: Sequence[Round]) -> None:
        """Note everything."""
        large, shares = [each.large for each in rounds], _shares(each.large for each in rounds)
        self._add("start", [each.large.seconds - each.empty.seconds for each in rounds])
        self._add("start-api", [_later(each, KUBE_APISERVER) for each in rounds])
        self._add("start-late", [_later_than_scheduler(each) for each in large])
        self._add("start-cpu", [sum(each.cpu.values()) for each in large], shares)
        self._add("start-cpu-empty", [sum(each.empty.cpu.values()) for each in rounds])
        self._add("start-memory", [each.peak / 1e6 for each in large])
        self._add("restore", [each.restored for each in rounds])
        later = [each.restored - each.large.seconds for each in rounds]
        self._add("restore-over-start", later)

    def _add(
        self, row: str, taken: Sequence[float], shares: Mapping[str, float] | None = None
    ) -> None:
        note = f"of {', '.join(f'{each:.3g}' for each in taken)} {ROWS[row].unit}"
        value = statistics.median(taken)
        self.ledger.add(row, self.pods, value, nodes=self.nodes, note=note, programs=shares)


def _later(found: Round, name: ComponentName) -> float:
    """Return how much later a component of the large cluster was ready than that of the empty one."""
    return found.large.ready[name] - found.empty.ready[name]


def _later_than_scheduler(started: Started) -> float:
    return started.ready[KWOK_CONTROLLER] - started.ready[KUBE_SCHEDULER]


def _shares(starts: Iterable[Started]) -> Mapping[str, float]:
    """Return the CPU of each program, in the middle of all starts."""
    spent = [each.cpu for each in starts]
    return {name: statistics.median(each[name] for each in spent) for name in spent[0]}


if __name__ == "__main__":
    main()
