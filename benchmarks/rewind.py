"""How fast a cluster is marked and taken back, by the number of objects that have changed, and of all.

    python -m benchmarks.rewind [--scale 0.02] [--stories small large] [--into FILE]

A rewind ends when the controller-manager works again. Figures are medians of three.
"""

import argparse
import asyncio
import json
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path

from benchmarks.cluster import fresh_cluster
from benchmarks.fleet import Sizes, Stage, run_story
from benchmarks.results import FILE
from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.clusters.time_travel.mark import mark_cluster
from kwokctl.clusters.time_travel.rewind import rewind_cluster
from kwokctl.host.paths import WorkDir, cache_dir
from kwokctl.kube.client import Client
from kwokctl.kube.resource import CONFIG_MAPS
from kwokctl.tasks import for_each

ROUNDS = 3
NAME = cluster_name("bench")
_AT_ONCE = 32
_NODES = 10


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
    for row in ("rewind-few", "rewind"):
        count = stage.sizes.of(row)
        taken = [await _rewound(stage, count, _back(home)) for _ in range(ROUNDS)]
        _report(stage, row, count, taken)
    count, back = stage.sizes.of("rewind-command"), ("snapshot", "rewind")
    by_command = partial(stage.meter.cluster.kwokctl, *back)
    taken = [await _rewound(stage, count, by_command) for _ in range(ROUNDS)]
    _report(stage, "rewind-command", count, taken)


async def _large(stage: Stage) -> None:
    """Do the same where there is very much that does not change."""
    home, nodes, pods = _home(stage), stage.sizes.scaled(1_000), stage.sizes.of("rewind-beside")
    await stage.scaled("node", nodes)
    await stage.scaled("pod", pods, "--on-nodes=type=kwok")
    marks = [await _marked(home) for _ in range(ROUNDS)]
    _report(stage, "mark-beside", pods, marks, nodes=nodes)
    changed = stage.sizes.of("rewind-few")
    taken = [await _rewound(stage, changed, _back(home)) for _ in range(ROUNDS)]
    _report(stage, "rewind-beside", pods, taken, nodes=nodes)


_STORIES: Mapping[str, Callable[[Stage], Awaitable[None]]] = {"small": _small, "large": _large}


def _home(stage: Stage) -> Home:
    return Home(workdir=WorkDir(stage.meter.cluster.workdir), cache=cache_dir())


async def _marked(home: Home) -> float:
    return await _timed(partial(mark_cluster, home, NAME, "bench"))


def _back(home: Home) -> Callable[[], Awaitable[object]]:
    return partial(rewind_cluster, home, NAME, "bench")


async def _rewound(stage: Stage, count: int, back: Callable[[], Awaitable[object]]) -> float:
    """Change so many objects, and return how many seconds it takes to go back."""
    await for_each(range(count), partial(_create, stage.client), at_once=_AT_ONCE)
    return await _timed(back)


def _report(stage: Stage, row: str, count: int, taken: list[float], *, nodes: int = 0) -> None:
    note = f"of {', '.join(f'{seconds:.2g}' for seconds in taken)} s"
    stage.ledger.add(row, count, statistics.median(taken), nodes=nodes, note=note)


async def _create(client: Client, number: int) -> None:
    body = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": f"changed-{number}"},
        "data": {"text": "x" * 500},
    }
    await client.create(CONFIG_MAPS, "default", json.dumps(body).encode())


async def _timed(work: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await work()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
