"""How long pods take to leave a cluster as documents and to come back, beside `scale` that makes as many.

python -m benchmarks.documents [--scale 0.02] [--into FILE]
"""

import argparse
import asyncio
import time
from pathlib import Path

from benchmarks.cluster import fresh_cluster
from benchmarks.fleet import Sizes, Stage, run_story
from benchmarks.results import FILE

_NODES = 100


def main() -> None:
    """Run the story."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies all counts")
    parser.add_argument("--into", type=Path, help="JSON file that figures are added to")
    options = parser.parse_args()
    into = options.into or (FILE if options.scale == 1 else None)
    sizes = Sizes(scale=options.scale, pods_share=1.0, settling=0.0, idle=0.0)
    with fresh_cluster() as cluster:
        asyncio.run(run_story(_story, cluster, sizes, into))


async def _story(stage: Stage) -> None:
    """Make pods, save them, delete them, and restore them; the ratio is of one and the same run."""
    pods, nodes = stage.sizes.of("documents-restore"), stage.sizes.scaled(_NODES)
    await stage.scaled("node", nodes)
    scaled = await stage.scaled("pod", pods, "--on-nodes=type=kwok")
    file = stage.meter.cluster.workdir / "pods.yaml"
    options = ("--format=k8s", f"--path={file}", "--filter=pod")

    saved = await _timed(stage, pods, "save", *options)
    stage.ledger.add("documents-save", pods, saved, nodes=nodes)
    await stage.scaled("pod", 0)
    restored = await _timed(stage, pods, "restore", *options)
    stage.ledger.add("documents-restore", pods, restored, nodes=nodes)
    note = f"`scale` took {scaled.seconds:.3g} s"
    ratio = (saved + restored) / scaled.seconds
    stage.ledger.add("documents-ratio", pods, ratio, nodes=nodes, note=note)


async def _timed(stage: Stage, pods: int, *words: str) -> float:
    """Return how many seconds a command takes, until all pods run; it starts programs again."""
    began = time.perf_counter()
    await stage.meter.cluster.kwokctl("snapshot", *words)
    seen = stage.meter.observer.pods
    await stage.meter.observer.until(lambda: len(seen.ready) == pods)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
