"""How much longer a fork takes than a new cluster, and what several at once take.

    python -m benchmarks.forks [--scale 0.02] [--rounds 3] [--into FILE]

A new cluster, which is empty, and a fork of one with nodes are created in turns, and deleted again. Then eight
forks are made at once. Their memory is what all of their programs have held at most, each at its own time: more
than all of them ever held together. It is compared with what the command says before.
"""

import argparse
import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.cluster import BenchCluster, fresh_cluster
from benchmarks.goals import ROWS
from benchmarks.ledger import Ledger
from benchmarks.processes import peak_bytes
from benchmarks.results import FILE
from kwokctl.clusters.forking.needed_memory import needs_of_forks
from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.clusters.state.saved import load
from kwokctl.host.paths import WorkDir, cache_dir
from kwokctl.kube.client import Client
from kwokctl.runtime import KnowsProcesses

_CREATE = ("create", "cluster", "--wait=10m", "--kubeconfig=", "--output=json")
_DELETE = ("delete", "cluster", "--kubeconfig=")


def main() -> None:
    """Fork a cluster again and again, then eight times at once."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies all counts")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--into", type=Path, help="JSON file that figures are added to")
    options = parser.parse_args()
    into = options.into or (FILE if options.scale == 1 else None)
    with fresh_cluster() as source:
        asyncio.run(_story(source, options.scale, options.rounds, into))


async def _story(source: BenchCluster, scale: float, rounds: int, into: Path | None) -> None:
    async with source.pool() as pool:
        ledger = await Ledger.open(source, Client(pool), into)
    nodes, forks = (max(1, round(ROWS[row].count * scale)) for row in ("fork", "forks-8"))
    await source.kwokctl("scale", "node", f"--replicas={nodes}", "--wait=30m")
    taken = [await _longer(source) for _ in range(rounds)]
    note = f"of {', '.join(f'{each:.2g}' for each in taken)} s"
    ledger.add("fork", nodes, statistics.median(taken), note=note)
    found = await _several(source, forks)
    ledger.add("forks-8", forks, found.seconds, nodes=nodes)
    note = f"{found.peak >> 20} MiB of {found.bound >> 20} MiB"
    share = found.peak / found.bound * 100
    ledger.add("forks-8-memory", forks, share, nodes=nodes, note=note)


async def _longer(source: BenchCluster) -> float:
    """Return how many seconds a fork takes more than a new cluster."""
    async with _made(source, ["new"]) as new:
        pass
    async with _made(source, ["copy"], "--from=bench") as copy:
        pass
    return copy - new


@dataclass(frozen=True, slots=True, kw_only=True)
class _Several:
    """Forks that were made at once. Sizes are bytes."""

    seconds: float
    peak: int
    bound: int
    """What the command says that they take at most."""


async def _several(source: BenchCluster, count: int) -> _Several:
    home = Home(workdir=WorkDir(source.workdir), cache=cache_dir())
    name = cluster_name(source.paths.root.name)
    saved = load(source.paths, name)
    runtime = home.runtime(saved.options.runtime)
    needs = await needs_of_forks(runtime, saved, count)
    if needs is None or not isinstance(runtime, KnowsProcesses):
        raise TypeError("the processes of the source are not those of this machine")
    names = [f"many-{n}" for n in range(1, count + 1)]
    words = ("--from=bench", f"--count={count}", "--ignore-memory")
    async with _made(source, names, *words, name="many") as seconds:
        each = [await runtime.processes(cluster_name(name)) for name in names]
        pids = [pid for found in each for several in found.values() for pid in several]
        peak = sum(map(peak_bytes, pids))
    return _Several(seconds=seconds, peak=peak, bound=needs.together)


@asynccontextmanager
async def _made(
    source: BenchCluster, names: Sequence[str], *words: str, name: str = ""
) -> AsyncIterator[float]:
    """Create clusters in the folder of another one, and delete them again; yield the seconds it took."""
    began = time.perf_counter()
    try:
        await source.kwokctl(*_CREATE, f"--name={name or names[0]}", *words)
        yield time.perf_counter() - began
    finally:
        for each in names:
            await source.kwokctl(*_DELETE, f"--name={each}")


if __name__ == "__main__":
    main()
