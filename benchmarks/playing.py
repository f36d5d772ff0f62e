"""What it adds to the time of `scale node` that the Stages of nodes are played before these are written.

    python -m benchmarks.playing [--scale 0.02] [--turns 3] [--into FILE]

Two new clusters take turns, one with the usual Stages and one without that which makes nodes Ready: the
command's CPU is compared, and the difference is given as a share of the seconds that `scale` takes with
all Stages. What playing adds includes what larger objects take to be written.
"""

import argparse
import asyncio
import statistics
from pathlib import Path

from benchmarks.cluster import fresh_cluster
from benchmarks.fleet import Sizes, Stage, run_story
from benchmarks.goals import ROWS
from benchmarks.ledger import Ledger
from benchmarks.meter import COMMAND, Measured
from benchmarks.results import FILE

_ROW = "playing-share"
_WITH: tuple[str, ...] = ()
_WITHOUT = ("--stage=node-initialize-",)


def main() -> None:
    """Measure in turns, and note the share."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the number of nodes")
    parser.add_argument("--turns", type=int, default=3, help="clusters of which the median counts")
    parser.add_argument("--into", type=Path, help="JSON file that the figure is added to")
    options = parser.parse_args()
    into = options.into or (FILE if options.scale == 1 else None)
    nodes = round(ROWS[_ROW].count * options.scale)
    turns = [[_spent(words, nodes) for words in (_WITH, _WITHOUT)] for _ in range(options.turns)]
    played, created = (
        statistics.median(each.cpu[COMMAND] for each in some) for some in zip(*turns, strict=True)
    )
    seconds = statistics.median(with_all.seconds for with_all, _ in turns)
    note = (
        f"the command's CPU is {played / nodes * 1e3:.3g} ms a node, {created / nodes * 1e3:.3g} ms without "
        f"Stages; `scale` takes {seconds:.3g} s"
    )
    ledger = Ledger.without_cluster(into)
    ledger.add(_ROW, nodes, (played - created) / seconds * 100, note=note)


def _spent(words: tuple[str, ...], nodes: int) -> Measured:
    """Return what so many nodes of a new cluster need, to the last that is there."""
    found: list[Measured] = []

    async def story(stage: Stage) -> None:
        seen = stage.meter.observer.nodes
        measured = await stage.meter.work(
            lambda: stage.meter.cluster.kwokctl("scale", "node", f"--replicas={nodes}"),
            lambda: len(seen.existing) == nodes,
        )
        found.append(measured)

    sizes = Sizes(scale=1, pods_share=1, settling=0, idle=0)
    with fresh_cluster(*words) as cluster:
        asyncio.run(run_story(story, cluster, sizes, None))
    return found[0]


if __name__ == "__main__":
    main()
