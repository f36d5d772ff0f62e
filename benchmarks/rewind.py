"""How fast a cluster is marked and taken back, by the number of objects that have changed, and of all.

    python -m benchmarks.rewind [--scale 0.02] [--stories small large] [--into FILE]

A rewind ends when all that it has stopped is ready again; "acts" when the controller-manager has answered
a new Deployment. Figures are medians of three.
"""

import argparse
import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path

import msgspec

from benchmarks.changes import Changes
from benchmarks.cluster import fresh_cluster
from benchmarks.deployment import deployment
from benchmarks.fleet import Sizes, Stage, run_story
from benchmarks.results import FILE
from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.clusters.time_travel.make_mark import mark_cluster
from kwokctl.clusters.time_travel.rest import wait_at_rest
from kwokctl.clusters.time_travel.rewind import rewind_cluster
from kwokctl.host.paths import WorkDir, cache_dir
from kwokctl.kube.client import Client
from kwokctl.kube.resource import DEPLOYMENTS, REPLICA_SETS

ROUNDS = 3
NAME = cluster_name("bench")
_NODES = 10
_LOOK_EVERY = 0.01


def main() -> None:
    """Run the requested stories."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies all counts")
    parser.add_argument("--stories", nargs="+", choices=_STORIES, default=list(_STORIES))
    parser.add_argument("--into", type=Path, help="JSON file that figures are added to")
    options = parser.parse_args()
    into = options.into or (FILE if options.scale == 1 else None)
    sizes = Sizes(scale=options.scale, pods_share=1.0, settling=0.0, idle=0.0)
    for name in options.stories:
        with fresh_cluster() as cluster:
            asyncio.run(run_story(_STORIES[name], cluster, sizes, into))


async def _small(stage: Stage) -> None:
    """Mark a cluster with hardly anything in it, and change some objects."""
    home = _home(stage)
    await stage.scaled("node", _NODES)
    _report(stage, "mark", _NODES, [await _marked(home) for _ in range(ROUNDS)])
    await _prepared(stage, home, stage.sizes.of("rewind-few"))
    await _repeated(stage, "rewind-few", _back(home))
    await _repeated(stage, "rewind-acts", partial(_acting, stage.client, _back(home)))
    command = partial(stage.meter.cluster.kwokctl, "snapshot", "rewind")
    await _repeated(stage, "rewind-command", command)
    # The controller-manager also reads what does not change, so the many come last.
    await _prepared(stage, home, stage.sizes.of("rewind"))
    await _repeated(stage, "rewind", _back(home))


async def _large(stage: Stage) -> None:
    """Do the same where there is very much that does not change."""
    home, nodes, pods = _home(stage), stage.sizes.scaled(1_000), stage.sizes.of("rewind-beside")
    await stage.scaled("node", nodes)
    await stage.scaled("pod", pods, "--on-nodes=type=kwok")
    changed = stage.sizes.of("rewind-few")
    await _prepared(stage, home, changed)
    marks = [await _marked(home) for _ in range(ROUNDS)]
    _report(stage, "mark-beside", pods, marks, nodes=nodes)
    taken = [await _rewound(stage, changed, _back(home)) for _ in range(ROUNDS)]
    _report(stage, "rewind-beside", pods, taken, nodes=nodes)


_STORIES: Mapping[str, Callable[[Stage], Awaitable[None]]] = {"small": _small, "large": _large}


def _home(stage: Stage) -> Home:
    return Home(workdir=WorkDir(stage.meter.cluster.workdir), cache=cache_dir())


async def _marked(home: Home) -> float:
    return await _timed(partial(mark_cluster, home, NAME, "bench"))


def _back(home: Home) -> Callable[[], Awaitable[object]]:
    return partial(rewind_cluster, home, NAME, "bench")


async def _prepared(stage: Stage, home: Home, count: int) -> None:
    """Create what so many changes need, and mark it when nothing happens any more."""
    await Changes(stage.client, count).prepare()
    await wait_at_rest(home, NAME, seconds=1, within=120)
    await _marked(home)


async def _repeated(stage: Stage, row: str, back: Callable[[], Awaitable[object]]) -> None:
    count = stage.sizes.of(row)
    _report(stage, row, count, [await _rewound(stage, count, back) for _ in range(ROUNDS)])


async def _rewound(stage: Stage, count: int, back: Callable[[], Awaitable[object]]) -> float:
    """Change so many objects, and return how many seconds it takes to go back."""
    await Changes(stage.client, count).make()
    return await _timed(back)


async def _acting(client: Client, back: Callable[[], Awaitable[object]]) -> None:
    """Go back, create a Deployment, and wait for its ReplicaSet; the next rewind removes both."""
    await back()
    body = msgspec.json.encode(deployment(1))
    await client.create(DEPLOYMENTS, "default", body)
    while True:
        found = msgspec.json.decode(await client.call("GET", REPLICA_SETS.path("default")))
        if found["items"]:
            return
        await asyncio.sleep(_LOOK_EVERY)


def _report(stage: Stage, row: str, count: int, taken: list[float], *, nodes: int = 0) -> None:
    note = f"of {', '.join(f'{seconds:.2g}' for seconds in taken)} s"
    stage.ledger.add(row, count, statistics.median(taken), nodes=nodes, note=note)


async def _timed(work: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await work()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
