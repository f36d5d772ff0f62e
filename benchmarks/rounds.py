"""What rounds of metrics-server through all nodes cost the kubelet server, and whether the controller suffers.

    python -m benchmarks.rounds [--scale 0.02] [--stories thousand many] [--rounds 4] [--into FILE]

The controller's delay is that of its answers beside those of an idle process, both asked all the time.
"""

import argparse
import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.cluster import FailedError, fresh_cluster
from benchmarks.fleet import Sizes, Stage, run_story
from benchmarks.processes import KUBELET, METRICS_SERVER
from benchmarks.responsiveness import Delays, idle_process, keep_asking, later
from benchmarks.results import FILE
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.pool import Pool
from kwokctl.model import KWOK_CONTROLLER, ComponentName

_OFTEN, _RARELY = 15, 60
"""Seconds between two rounds, as kwokctl chooses them by the number of nodes."""
_FAILED = re.compile(
    rb'^metrics_server_kubelet_request_total\{success="false"\} (\S+)', re.MULTILINE
)
_TICKS = re.compile(
    rb"^metrics_server_manager_tick_duration_seconds_(count|sum) (\S+)", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Reported:
    """What metrics-server reports about itself."""

    rounds: float
    seconds: float
    """Of all rounds together."""
    failed: float
    """Requests."""

    def since(self, before: "Reported") -> "Reported":
        """Return what has happened since."""
        return Reported(
            self.rounds - before.rounds,
            self.seconds - before.seconds,
            self.failed - before.failed,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """What some rounds took."""

    reported: Reported
    took: float
    cpu: Mapping[str, float]
    """Seconds of each program."""
    controller: Delays
    idle: Delays


async def _measured(stage: Stage, every: int, count: int) -> Rounds:
    """Look at so many rounds; the meters are there by then."""
    await asyncio.sleep(2 * every)
    controller, idle = Delays(), Delays()
    with idle_process() as port:
        before = await _told(stage)
        asking = [
            asyncio.create_task(keep_asking(stage.meter.cluster.port(KWOK_CONTROLLER), controller)),
            asyncio.create_task(keep_asking(port, idle)),
        ]
        rest = await stage.meter.rest(every * count)
        for task in asking:
            task.cancel()
        await asyncio.wait(asking)
        since = (await _told(stage)).since(before)
    if not since.rounds:
        raise FailedError(f"metrics-server has not ended a round in {rest.seconds:.0f} s")
    return Rounds(reported=since, took=rest.seconds, cpu=rest.cpu, controller=controller, idle=idle)


async def _told(stage: Stage) -> Reported:
    cluster = stage.meter.cluster
    pki = cluster.paths.pki
    access = Access(
        server=f"https://localhost:{cluster.port(ComponentName(METRICS_SERVER))}",
        ca=(pki / "ca.crt").read_bytes(),
        cert=(pki / "admin.crt").read_bytes(),
        key=(pki / "admin.key").read_bytes(),
    )
    async with Pool(access, connections=1) as pool:
        return reported((await pool.request("GET", "/metrics", accept="text/plain")).body)


def reported(text: bytes) -> Reported:
    """Read metrics-server's metrics."""
    ticks = {name: float(value) for name, value in _TICKS.findall(text)}
    failed = _FAILED.search(text)
    return Reported(ticks[b"count"], ticks[b"sum"], float(failed[1]) if failed else 0.0)


async def _filled(stage: Stage, nodes: int, pods: int) -> None:
    await stage.scaled("node", nodes)
    await stage.scaled("pod", pods, "--on-nodes=type=kwok")


def _thousand(rounds: int) -> Callable[[Stage], Awaitable[None]]:
    async def story(stage: Stage) -> None:
        nodes, pods = stage.sizes.scaled(1_000), stage.sizes.scaled(10_000)
        await _filled(stage, nodes, pods)
        found = await _measured(stage, _OFTEN, rounds)
        shares = {name: spent / found.took * 100 for name, spent in found.cpu.items()}
        note = f"{found.reported.rounds:.0f} rounds, of which one takes {_one(found):.1f} s"
        stage.ledger.add(
            "rounds-share", pods, shares[KUBELET], nodes=nodes, programs=shares, note=note
        )
        stage.ledger.add("rounds-share-failed", pods, found.reported.failed, nodes=nodes)

    return story


def _many(rounds: int) -> Callable[[Stage], Awaitable[None]]:
    async def story(stage: Stage) -> None:
        nodes, pods = stage.sizes.scaled(10_000), stage.sizes.scaled(100_000)
        await _filled(stage, nodes, pods)
        found = await _measured(stage, _RARELY, rounds)
        each = {name: spent / found.reported.rounds for name, spent in found.cpu.items()}
        stage.ledger.add("rounds", pods, _one(found), nodes=nodes)
        stage.ledger.add("rounds-failed", pods, found.reported.failed, nodes=nodes)
        stage.ledger.add("rounds-cpu", pods, each[KUBELET], nodes=nodes, programs=each)
        late, note = later(found.controller, found.idle)
        stage.ledger.add("rounds-delay", pods, late, nodes=nodes, note=note)

    return story


def _one(found: Rounds) -> float:
    return found.reported.seconds / found.reported.rounds


_STORIES: Mapping[str, tuple[Callable[[int], Callable[[Stage], Awaitable[None]]], int]] = {
    "thousand": (_thousand, _OFTEN),
    "many": (_many, _RARELY),
}


def main() -> None:
    """Run the requested stories."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies all counts")
    parser.add_argument("--stories", nargs="+", choices=_STORIES, default=list(_STORIES))
    parser.add_argument("--rounds", type=int, default=4, help="that are measured")
    parser.add_argument("--into", type=Path, help="JSON file that figures are added to")
    options = parser.parse_args()
    into = options.into or (FILE if options.scale == 1 else None)
    sizes = Sizes(scale=options.scale, pods_share=1.0, settling=0.0, idle=0.0)
    for name in options.stories:
        story, every = _STORIES[name]
        words = ("--enable=metrics-server", f"--metrics-server-resolution={every}")
        with fresh_cluster(*words) as cluster:
            asyncio.run(run_story(story(options.rounds), cluster, sizes, into))


if __name__ == "__main__":
    main()
