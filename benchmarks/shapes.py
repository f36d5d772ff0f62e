"""What nodes of a shape cost beside plain ones: time, bytes in etcd, and memory of the API server.

    python -m benchmarks.shapes [--shape dgx-h100] [--dialect dgx] [--scale 0.1] [--turns 3] [--into FILE]

Three new clusters take turns: one gets plain nodes, one as many of the shape, with their labels, devices and places, and
one nodes of the shape that say they are healthy in a dialect of faults, too. No other client watches. The ratio is that of each turn, so
a machine that is slow for minutes is so for all.
"""

import argparse
import asyncio
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.cluster import BenchCluster, FailedError, fresh_cluster
from benchmarks.fleet import Sizes, Stage, run_story
from benchmarks.goals import ROWS
from benchmarks.ledger import Ledger
from benchmarks.meter import Measured
from benchmarks.observer import observing
from benchmarks.results import FILE
from kwokctl.dataplane.etcd_keys import Keys
from kwokctl.etcd.kv.kv import Kv, prefix_end
from kwokctl.kube.resource import NODES

_ROW, _DIALECT = "shape", "shape-dialect"
_PLAIN = "node"
_API_SERVER = "kube-apiserver"
_PAGE = 500


@dataclass(frozen=True, slots=True)
class _Cost:
    """What the nodes of one cluster took."""

    nodes: int
    measured: Measured
    stored: float
    """The bytes of a node in etcd."""
    memory: float
    """The API server's, in MB."""

    @property
    def seconds(self) -> float:
        return self.measured.seconds

    @property
    def cpu(self) -> float:
        """The seconds of all programs and of the command."""
        return sum(self.measured.cpu.values())


def main() -> None:
    """Measure in turns, and note the medians."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--shape", default="dgx-h100")
    parser.add_argument("--dialect", default="dgx")
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the number of nodes")
    parser.add_argument(
        "--turns", type=int, default=3, help="pairs of clusters of which the median counts"
    )
    parser.add_argument("--into", type=Path, help="JSON file that figures are added to")
    options = parser.parse_args()
    into = options.into or (FILE if options.scale == 1 else None)
    nodes = round(ROWS[_ROW].count * options.scale)
    dialect = f'.dialects = ["{options.dialect}"]'
    turns = []
    for _ in range(options.turns):
        plain, shaped = _cost(nodes, _PLAIN), _cost(nodes, options.shape)
        turns.append((plain, shaped, _cost(nodes, options.shape, "--param", dialect)))
        print(
            ", ".join(f"{each.seconds:.3g} s, CPU {each.cpu:.3g} s" for each in turns[-1]),
            flush=True,
        )
    ledger = Ledger.without_cluster(into)
    for row, place in ((_ROW, 1), (_DIALECT, 2)):
        _note(ledger, row, [(turn[0], turn[place]) for turn in turns])


def _note(ledger: Ledger, row: str, turns: Sequence[tuple[_Cost, _Cost]]) -> None:
    def median(of: Callable[[_Cost], float], place: int) -> float:
        return statistics.median(of(turn[place]) for turn in turns)

    nodes = turns[0][0].nodes
    ratios = sorted(shaped.seconds / plain.seconds for plain, shaped in turns)
    cpu = statistics.median(shaped.cpu / plain.cpu for plain, shaped in turns)
    values = ", ".join(f"{ratio:.3g}" for ratio in ratios)
    note = f"median of {len(ratios)} pairs: {values}; CPU of all programs: {cpu:.3g} times"
    ledger.add(row, nodes, statistics.median(ratios), note=note)
    plain, shaped = (median(lambda cost: cost.stored, place) for place in (0, 1))
    ledger.add(f"{row}-bytes", nodes, shaped / 1e3, note=f"plain: {plain / 1e3:.3g} KB")
    plain, shaped = (median(lambda cost: cost.memory, place) for place in (0, 1))
    ledger.add(f"{row}-memory", nodes, shaped, note=f"plain: {plain:,.0f} MB")


def _cost(nodes: int, *words: str) -> _Cost:
    """Return what so many nodes of a new cluster take; FailedError unless all are Ready."""
    found: list[_Cost] = []

    async def story(stage: Stage) -> None:
        cluster = stage.meter.cluster
        measured = await stage.meter.command(
            lambda: cluster.kwokctl("scale", *words, f"--replicas={nodes}")
        )
        memory = stage.meter.memory()[_API_SERVER]
        async with observing(stage.meter.pool) as observer:
            ready = len(observer.nodes.ready)
        if ready != nodes:
            raise FailedError(f"{ready:,} of {nodes:,} nodes were ready when 'scale' returned")
        found.append(_Cost(nodes, measured, await _stored(cluster), memory))

    sizes = Sizes(scale=1, pods_share=1, settling=0, idle=0)
    with fresh_cluster() as cluster:
        asyncio.run(run_story(story, cluster, sizes, None, is_watched=False))
    return found[0]


async def _stored(cluster: BenchCluster) -> float:
    """Return how many bytes of etcd a node takes, with its key."""
    start = folder = Keys("/registry").folder(NODES)
    sizes: list[int] = []
    async with Kv(f"unix:{cluster.paths.etcd_socket}") as kv:
        while items := (await kv.page(start, prefix_end(folder), limit=_PAGE)).items:
            sizes += [len(each.key) + len(each.value) for each in items]
            start = items[-1].key + b"\0"
    return statistics.mean(sizes)


if __name__ == "__main__":
    main()
