"""What the data plane must reach: fleets made, filled, emptied and left alone, by both data paths.

    python -m benchmarks.fleet [--scale 0.02] [--paths auto api] [--stories fleet growth] [--turns 3] [--into FILE]

Each story begins with a cluster just made by `kwokctl create cluster`. Times run from a command's
start until a watch of this program's own has seen the last object; such a watch costs a tenth of the time of 10,000 nodes, so in the
story "nodes" no client watches, the time ends with the command, and all nodes are looked at afterwards. Figures are added to
docs/explanation/performance.json after the turns of a story, as medians, unless `--scale` makes them smaller than the goals
speak of; `make docs` makes a page of them.
"""

import argparse
import asyncio
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from benchmarks.cluster import BenchCluster, FailedError, fresh_cluster
from benchmarks.deployment import deployment
from benchmarks.goals import GROWTH, ROWS, growth_row
from benchmarks.ledger import Ledger
from benchmarks.medians import keep_medians
from benchmarks.meter import Measured, Meter
from benchmarks.observer import Observer, observing
from benchmarks.processes import CONTROLLER
from benchmarks.results import FILE
from kwokctl.kube.client import Client
from kwokctl.kube.resource import DEPLOYMENTS, LEASES, NODE_LEASES

_FIRST_NODE = "node-000000"
_NODES = 10_000
"""Rows of more objects than that are of pods."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How many objects are made, and how long the idle cluster is measured."""

    scale: float
    """What all counts are multiplied by."""
    pods_share: float
    """What the numbers of pods beyond ten thousand are multiplied by, too."""
    settling: float
    idle: float
    """Seconds."""

    def of(self, row: str) -> int:
        """Return how many objects a row is measured with."""
        count = ROWS[row].count
        return self.scaled(round(count * self.pods_share) if count > _NODES else count)

    def scaled(self, count: int) -> int:
        """Return the scaled-down number of objects."""
        return max(1, round(count * self.scale))


@dataclass(frozen=True, slots=True)
class Stage:
    """A cluster under measurement."""

    meter: Meter
    client: Client
    sizes: Sizes
    ledger: Ledger

    async def scaled(self, kind: str, replicas: int, *words: str) -> Measured:
        """Scale, and measure it until as many are ready as asked for, and no other is left."""
        seen = self.meter.observer.nodes if kind == "node" else self.meter.observer.pods
        return await self.meter.work(
            lambda: self.meter.cluster.kwokctl("scale", kind, f"--replicas={replicas}", *words),
            lambda: len(seen.ready) == replicas == len(seen.existing),
        )

    def report(self, row: str, count: int, measured: Measured, *, nodes: int = 0) -> None:
        """Note the time of a row."""
        self.ledger.add(
            row,
            count,
            measured.seconds,
            nodes=nodes,
            ended=measured.ended,
            programs=measured.each(count),
        )


async def unwatched_nodes(stage: Stage) -> None:
    """Make nodes as a user does; all of them must be ready when the command has returned."""
    nodes = stage.sizes.of("nodes")
    words = ("scale", "node", f"--replicas={nodes}")
    measured = await stage.meter.command(lambda: stage.meter.cluster.kwokctl(*words))
    async with observing(stage.meter.pool) as observer:
        ready = len(observer.nodes.ready)
    if ready != nodes:
        raise FailedError(f"{ready:,} of {nodes:,} nodes were ready when 'scale' returned")
    stage.report("nodes", nodes, measured)


async def fleet(stage: Stage) -> None:
    """Make nodes, leave them alone, spread pods over them, delete the pods, and make more."""
    nodes, pods = stage.sizes.of("nodes"), stage.sizes.of("spread")
    spread = "--on-nodes=type=kwok"
    seen = stage.meter.observer
    stage.report("nodes-watched", nodes, await stage.scaled("node", nodes))
    stage.ledger.add("gap-nodes", nodes, seen.nodes.gap)
    await idle(stage, nodes)
    stage.report("spread", pods, await stage.scaled("pod", pods, spread), nodes=nodes)
    stage.ledger.add("gap", pods, seen.pods.gap, nodes=nodes)
    await asyncio.sleep(stage.sizes.settling / 3)
    memory = stage.meter.memory()
    stage.ledger.add("memory", pods, memory[CONTROLLER], nodes=nodes, programs=memory)
    stage.report("deletion", pods, await stage.scaled("pod", 0))
    more = stage.sizes.of("again")
    stage.report("again", more, await stage.scaled("pod", more, spread), nodes=nodes)


async def idle(stage: Stage, nodes: int) -> None:
    """Look at a fleet of which nothing is asked."""
    await asyncio.sleep(stage.sizes.settling)
    rest = await stage.meter.rest(stage.sizes.idle)
    shares = {name: spent / rest.seconds * 100 for name, spent in rest.cpu.items()}
    shares = {name: shares[name] for name in stage.meter.cluster.programs}
    lease = await stage.client.get(LEASES, NODE_LEASES, _FIRST_NODE)
    note = f"a renewal per {lease['spec']['leaseDurationSeconds'] // 4} s"
    stage.ledger.add("idle-controller", nodes, shares[CONTROLLER], note=note)
    stage.ledger.add("idle", nodes, sum(shares.values()), programs=shares, note=note)


async def one_node(stage: Stage) -> None:
    """Put all pods on a single node."""
    await stage.scaled("node", 1)
    pods = stage.sizes.of("one-node")
    words = ("--param", f'.nodeName="{_FIRST_NODE}"')
    stage.report("one-node", pods, await stage.scaled("pod", pods, *words))


async def deployed(stage: Stage) -> None:
    """Have pods of a Deployment placed by the scheduler."""
    nodes = stage.sizes.scaled(1_000)
    await stage.scaled("node", nodes)
    # The Leases of new nodes come a few seconds later, and are not the cost of pods.
    await asyncio.sleep(stage.sizes.settling / 3)
    pods = stage.sizes.of("deployment")
    body = msgspec.json.encode(deployment(pods))
    measured = await stage.meter.work(
        lambda: stage.client.create(DEPLOYMENTS, "default", body),
        lambda: len(stage.meter.observer.pods.ready) >= pods,
    )
    stage.report("deployment", pods, measured, nodes=nodes)
    stage.ledger.add("deployment-cpu", pods, measured.each(pods)[CONTROLLER])


async def huge(stage: Stage) -> None:
    """Make the largest fleet that is worth a try, and look at the memory of all programs."""
    nodes = stage.sizes.scaled(ROWS["nodes-50000"].count)
    stage.report("nodes-50000", nodes, await stage.scaled("node", nodes))
    memory = stage.meter.memory()
    stage.ledger.add("memory-50000", nodes, sum(memory.values()), programs=memory)


def grown(nodes: int) -> Callable[[Stage], Awaitable[None]]:
    """Return the story of a fleet of so many nodes."""

    async def story(stage: Stage) -> None:
        count = stage.sizes.scaled(nodes)
        stage.report(growth_row(nodes), count, await stage.scaled("node", count))

    return story


_STORIES: Mapping[str, tuple[Callable[[Stage], Awaitable[None]], ...]] = {
    "nodes": (unwatched_nodes,),
    "fleet": (fleet,),
    "one-node": (one_node,),
    "deployment": (deployed,),
    "growth": tuple(grown(nodes) for nodes in GROWTH),
    "huge": (huge,),
}
_ONLY_WHEN_NAMED = {"huge": ("--profile=50k",)}
"""Stories that take long, with the words for their clusters."""
_UNWATCHED = ("nodes",)


@asynccontextmanager
async def _stage(
    cluster: BenchCluster, sizes: Sizes, into: Path | None, *, is_watched: bool
) -> AsyncIterator[Stage]:
    async with AsyncExitStack() as stack:
        pool = await stack.enter_async_context(cluster.pool())
        observer = await stack.enter_async_context(observing(pool)) if is_watched else Observer()
        client = Client(pool)
        ledger = await Ledger.open(cluster, client, into)
        yield Stage(Meter(cluster, pool, observer), client, sizes, ledger)


async def run_story(
    story: Callable[[Stage], Awaitable[None]],
    cluster: BenchCluster,
    sizes: Sizes,
    into: Path | None,
    *,
    is_watched: bool = True,
) -> None:
    """Run a story on a cluster."""
    async with _stage(cluster, sizes, into, is_watched=is_watched) as stage:
        await story(stage)


def run_turns(
    story: Callable[[Stage], Awaitable[None]],
    words: Sequence[str],
    sizes: Sizes,
    into: Path | None,
    turns: int,
    *,
    is_watched: bool = True,
) -> None:
    """Run a story on some new clusters, one after the other, and keep the medians."""
    with tempfile.TemporaryDirectory(prefix="kwokctl-bench-") as folder:
        files = [Path(folder, f"{turn}.json") for turn in range(turns)]
        for file in files:
            with fresh_cluster(*words) as cluster:
                asyncio.run(run_story(story, cluster, sizes, file, is_watched=is_watched))
        if into is not None:
            keep_medians(files, into)


def main() -> None:
    """Run the requested stories, by each path."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies all counts")
    parser.add_argument("--paths", nargs="+", choices=("auto", "api"), default=["auto", "api"])
    parser.add_argument(
        "--stories",
        nargs="+",
        choices=_STORIES,
        default=[name for name in _STORIES if name not in _ONLY_WHEN_NAMED],
    )
    parser.add_argument(
        "--api-share", type=float, default=0.1, help="of the many pods, by the API (0.1)"
    )
    parser.add_argument(
        "--settling", type=float, default=30.0, help="seconds before the idle cluster is measured"
    )
    parser.add_argument(
        "--idle", type=float, default=60.0, help="seconds for which the idle cluster is measured"
    )
    parser.add_argument("--into", type=Path, help="JSON file that figures are added to")
    parser.add_argument("--turns", type=int, default=3, help="clusters of which the median counts")
    options = parser.parse_args()
    into = options.into or (FILE if options.scale == 1 else None)
    for path in options.paths:
        sizes = Sizes(
            scale=options.scale,
            pods_share=options.api_share if path == "api" else 1.0,
            settling=options.settling,
            idle=options.idle,
        )
        words = () if path == "auto" else (f"--data-path={path}",)
        for name in options.stories:
            for story in _STORIES[name]:
                more = (*words, *_ONLY_WHEN_NAMED.get(name, ()))
                is_watched = name not in _UNWATCHED
                run_turns(story, more, sizes, into, options.turns, is_watched=is_watched)


if __name__ == "__main__":
    main()
