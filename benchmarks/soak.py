"""Half an hour of a fleet at work: does memory grow, is a node ever lost, is a pod ever stuck?

    python -m benchmarks.soak [--minutes 30] [--nodes 10000] [--rate 100] [--into FILE]

On a cluster just made, which writes to etcd, pods come and go at a steady rate. Memory is read each
minute. A node that was ready and is so no longer counts as lost; a pod that is not Running half a
minute after it was seen first, or is still there half a minute after its deletion began, as stuck.
"""

import argparse
import asyncio
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.cluster import fresh_cluster
from benchmarks.ledger import Ledger
from benchmarks.meter import Meter
from benchmarks.observer import observing
from benchmarks.processes import CONTROLLER
from benchmarks.results import FILE
from benchmarks.straggling import Stragglers
from benchmarks.traffic import Traffic
from kwokctl.kube.client import Client

_PATIENCE = 30.0
"""Seconds in which a pod must do what it is to do."""
_WARM = 10
"""The minute with which the last one is compared, if it has come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What was asked for."""

    minutes: int
    nodes: int
    rate: float
    into: Path | None


@dataclass(slots=True)
class Soak:
    """One run."""

    meter: Meter
    client: Client
    ledger: Ledger
    wanted: Wanted
    sizes: dict[str, list[float]] = field(default_factory=dict)
    """MB of each program, minute by minute."""

    async def run(self) -> None:
        """Make nodes, let pods come and go, and report what became of them."""
        seen, wanted = self.meter.observer, self.wanted
        await self.meter.work(
            lambda: self.meter.cluster.kwokctl("scale", "node", f"--replicas={wanted.nodes}"),
            lambda: len(seen.nodes.ready) == wanted.nodes,
        )
        cluster = self.meter.cluster
        traffic = Traffic(cluster, self.client, wanted.nodes, wanted.rate, time.monotonic)
        stragglers = Stragglers(time.monotonic, _PATIENCE)
        seen.pods.listener = stragglers.note
        async with asyncio.TaskGroup() as tasks:
            looking = tasks.create_task(self._look_each_minute(traffic, stragglers))
            await traffic.run(wanted.minutes * 60)
            looking.cancel()
        left = await self._left()
        self._report(traffic.created, stragglers.found() | left)

    async def _look_each_minute(self, traffic: Traffic, stragglers: Stragglers) -> None:
        began = time.monotonic()
        for minute in range(1, self.wanted.minutes + 1):
            await asyncio.sleep(max(0.0, began + minute * 60 - time.monotonic()))
            for name, size in self.meter.memory().items():
                self.sizes.setdefault(name, []).append(round(size, 1))
            pods = self.meter.observer.pods
            print(
                f"minute {minute}: {self.sizes[CONTROLLER][-1]:.1f} MB; "
                f"{traffic.created} pods made, {len(pods.existing)} there; "
                f"stuck: {len(stragglers.found())}; "
                f"nodes lost: {self.meter.observer.nodes.relapses}",
                flush=True,
            )

    async def _left(self) -> set[str]:
        """Return the pods that are left although all were deleted."""
        pods = self.meter.observer.pods
        try:
            async with asyncio.timeout(_PATIENCE):
                await self.meter.observer.until(lambda: not pods.existing)
        except TimeoutError:
            return set(pods.existing)
        return set()

    def _report(self, created: int, stuck: set[str]) -> None:
        seconds, sizes = self.wanted.minutes * 60, self.sizes[CONTROLLER]
        warm = min(_WARM, max(1, len(sizes) // 3))
        first, last = sizes[warm - 1], sizes[-1]
        nodes = self.wanted.nodes
        note = f"{first:.0f} MB at minute {warm}, {last:.0f} MB at minute {len(sizes)}"
        self.ledger.add("soak", seconds, (last / first - 1) * 100, nodes=nodes, note=note)
        lost = self.meter.observer.nodes.relapses
        self.ledger.add("soak-lost", seconds, lost, nodes=nodes)
        self.ledger.add("soak-stuck", seconds, len(stuck), nodes=nodes, note=f"of {created:,}")
        self.ledger.keep(soak={name: tuple(each) for name, each in self.sizes.items()})
        if stuck:
            print(f"stuck: {', '.join(sorted(stuck)[:20])}", file=sys.stderr)


async def _soak(wanted: Wanted) -> None:
    with fresh_cluster("--data-path=etcd") as cluster:
        async with cluster.pool() as pool, observing(pool) as observer:
            client = Client(pool)
            ledger = await Ledger.open(cluster, client, wanted.into)
            await Soak(Meter(cluster, pool, observer), client, ledger, wanted).run()


def main() -> None:
    """Run one soak."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=int, default=30)
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--rate", type=float, default=100.0, help="pods a second")
    parser.add_argument("--into", type=Path, help="JSON file that figures are added to")
    options = parser.parse_args()
    is_whole = (options.minutes, options.nodes, options.rate) == (30, 10_000, 100.0)
    wanted = Wanted(
        minutes=options.minutes,
        nodes=options.nodes,
        rate=options.rate,
        into=options.into or (FILE if is_whole else None),
    )
    asyncio.run(_soak(wanted))


if __name__ == "__main__":
    main()
