"""Two hours of a GPU fleet at work: does anything grow?

    python -m benchmarks.endurance [--minutes 120] [--nodes 1000] [--round 10] [--scrapes 15] [--into FILE]

In each round gangs arrive, a storm of faults breaks nodes beneath them, Prometheus scrapes all nodes and GPUs, and at its end the
cluster is rewound to the beginning of the first one. Each minute the sizes of all programs are read. What they do after the first half
hour is a line that is fitted through them: its slope in percent of its mean an hour, with the interval that covers the true one in
95 of 100 runs (Student's t; minutes depend on each other, so that a real interval is wider).
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import StatisticsError, linear_regression, mean, median

from benchmarks.cluster import BenchCluster, fresh_cluster
from benchmarks.processes import programs, resident_bytes
from kwokctl.etcd.etcd3_client import EtcdClient
from kwokctl.kube.client import Client
from kwokctl.kube.transport.pool import Pool
from kwokctl.measure.record.incident_lines import WatchLag
from kwokctl.measure.watching.watch_lag import LagProbe
from kwokctl.model import KUBE_APISERVER

_MARK = "endurance"
_WARM = 30
"""Minutes that are left out: caches fill, and the heap of the API server settles."""
_TAIL = 60.0
"""Seconds at the end of a round in which nothing arrives any more."""
_T_95 = 1.96
_STORM = """
apiVersion: kwokctl.dev/v1alpha1
kind: FaultSchedule
metadata: {name: storm-%d}
spec: {horizon: %ds, seed: %d, profile: llama3-h100, rateFactor: %d}
"""
_RATE = 1300
"""Times the rate of the profile: 1,000 nodes have some 40 faults in ten minutes."""
_LOAD = """
apiVersion: kwokctl.dev/v1alpha1
kind: Load
metadata: {name: gangs}
spec:
  arrivals: {poisson: 4/min}
  for: %ds
  params:
    seconds: {lognormal: {p50: 60, p95: 240}}
  create:
  - template: |
      apiVersion: batch/v1
      kind: Job
      metadata: {name: "{{ .name }}"}
      spec:
        parallelism: 16
        completions: 16
        completionMode: Indexed
        backoffLimit: 100
        template:
          metadata:
            annotations: {kwokctl.dev/program: "run={{ .params.seconds }}s"}
          spec:
            restartPolicy: Never
            containers:
            - {name: train, image: trainer, resources: {limits: {nvidia.com/gpu: "8"}}}
"""
_GOROUTINES = "go_goroutines "


@dataclass(frozen=True, slots=True)
class Trend:
    """A line through what was read after the first half hour."""

    first: float
    last: float
    slope: float
    """In percent of the mean an hour."""
    margin: float
    """Half the length of the interval of the slope, in the same unit."""

    @property
    def grows(self) -> bool:
        """Whether the interval is above zero."""
        return self.slope - self.margin > 0


def trend(values: Mapping[int, float]) -> Trend | None:
    """Fit a line through values by minute; None where there are too few of them, or nothing but zeros."""
    late = {minute: value for minute, value in values.items() if minute > _WARM} or values
    xs, ys = [each / 60 for each in late], [*late.values()]
    try:
        slope, intercept = linear_regression(xs, ys)
    except StatisticsError:
        return None
    if len(xs) < 3 or not (level := mean(ys)):
        return None
    rest = sum((y - intercept - slope * x) ** 2 for x, y in zip(xs, ys, strict=True))
    spread = sum((x - mean(xs)) ** 2 for x in xs)
    error = (rest / (len(xs) - 2) / spread) ** 0.5
    return Trend(ys[0], ys[-1], slope / level * 100, _T_95 * error / level * 100)


@dataclass(slots=True)
class Endurance:
    """One run."""

    cluster: BenchCluster
    pool: Pool
    minutes: int
    length: int
    """The seconds of a round."""
    folder: Path
    read: dict[str, dict[int, float]] = field(default_factory=dict)
    """By what was read: the value by minute."""
    lags: list[float] = field(default_factory=list)
    """The milliseconds that changes of an object took until they were received, since the last look."""
    troubles: list[str] = field(default_factory=list)

    async def run(self, nodes: int) -> None:
        """Make a fleet, let it work in rounds, and look at the programs each minute."""
        await self.cluster.kwokctl("scale", "dgx-h100", f"--replicas={nodes}", "--wait=20m")
        await self.cluster.kwokctl("snapshot", "mark", _MARK)
        began = time.monotonic()
        probe = LagProbe(self.pool, self._note, lambda: round((time.monotonic() - began) * 1e9))
        async with asyncio.TaskGroup() as tasks:
            beside = [tasks.create_task(probe.probing()), tasks.create_task(self._look(began))]
            number = 0
            while time.monotonic() - began < self.minutes * 60:
                number += 1
                await self._tried(partial(self._round, number))
            for each in beside:
                each.cancel()

    async def _round(self, number: int) -> None:
        ends = time.monotonic() + self.length
        storm, load = self.folder / "storm.yaml", self.folder / "load.yaml"
        lasts = max(self.length - _TAIL, _TAIL)
        storm.write_text(_STORM % (number, lasts, number, _RATE))
        load.write_text(_LOAD % lasts)
        async with asyncio.timeout(2 * self.length), asyncio.TaskGroup() as tasks:
            tasks.create_task(self.cluster.kwokctl("fault", "run", "-f", str(storm)))
            tasks.create_task(
                self.cluster.kwokctl("load", "run", "-f", str(load), f"--seed={number}")
            )
        await asyncio.sleep(max(ends - time.monotonic(), 0.0))
        await self.cluster.kwokctl("snapshot", "rewind", _MARK)

    async def _tried(self, do: Callable[[], Awaitable[None]]) -> None:
        """Do something; the report names what fails, and the rounds continue."""
        try:
            await do()
        except Exception as e:
            self.troubles.append(f"{type(e).__name__}: {e}")
            print(self.troubles[-1], flush=True)
            await asyncio.sleep(1)

    async def _look(self, began: float) -> None:
        minute = 0
        while True:
            minute += 1
            await asyncio.sleep(max(0.0, began + minute * 60 - time.monotonic()))
            await self._tried(partial(self._look_once, minute))

    async def _look_once(self, minute: int) -> None:
        found = _of_programs(
            programs(self.cluster.port(KUBE_APISERVER))
        )  # a rewind starts some of them anew
        found["goroutines of kube-apiserver"] = await self._goroutines()
        async with EtcdClient(f"unix:{self.cluster.paths.etcd_socket}") as etcd:
            status = await etcd.status()
        found["etcd, MB"], found["etcd in use, MB"] = (
            status.db_size / 1e6,
            status.db_size_in_use / 1e6,
        )
        found["logs, MB"] = _bytes_below(self.cluster.paths.logs) / 1e6
        if self.lags:
            ordered = sorted(self.lags)
            found["lag of a watch, median, ms"] = median(ordered)
            found["lag of a watch, p99, ms"] = ordered[int(0.99 * len(ordered))]
            self.lags.clear()
        for name, value in found.items():
            self.read.setdefault(name, {})[minute] = round(value, 2)
        controller = found.get("memory of kwok-controller, MB", 0.0)
        server = found.get("memory of kube-apiserver, MB", 0.0)
        print(f"minute {minute}: controller {controller:.0f} MB, API server {server:.0f} MB, etcd {found['etcd, MB']:.0f} MB", flush=True)  # fmt: skip

    async def _goroutines(self) -> float:
        text = (await Client(self.pool).call("GET", "/metrics")).decode()
        line = next(each for each in text.splitlines() if each.startswith(_GOROUTINES))
        return float(line.removeprefix(_GOROUTINES))

    def _note(self, line: object) -> None:
        if isinstance(line, WatchLag):
            self.lags.append(line.lag / 1e6)

    def report(self) -> None:
        """Print a table of what was read, with its trend."""
        print(
            "\n| | minute 31 | end | an hour, with the interval of 95 % | |\n|---|---|---|---|---|"
        )
        for name, values in sorted(self.read.items()):
            if found := trend(values):
                slope = f"{found.slope:+.1f} % ± {found.margin:.1f}"
                verdict = "grows" if found.grows else "flat"
                print(f"| {name} | {found.first:g} | {found.last:g} | {slope} | {verdict} |")
        print(f"\n{len(self.troubles)} failures")
        for each in self.troubles:
            print(f"* {each}")


def _of_programs(pids: Mapping[str, int]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, pid in pids.items():
        process = Path(f"/proc/{pid}")
        found[f"memory of {name}, MB"] = resident_bytes(pid) / 1e6
        found[f"open files of {name}"] = len([*(process / "fd").iterdir()])
        found[f"threads of {name}"] = len([*(process / "task").iterdir()])
    return found


def _bytes_below(folder: Path) -> int:
    return sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())


async def _endure(minutes: int, nodes: int, length: int, scrapes: int) -> Mapping[str, object]:
    telemetry = ("--enable=prometheus", f"--prometheus-interval={scrapes}") if scrapes else ()
    words = ("--data-path=etcd", "--stage=pod-kubelet", *telemetry)
    with tempfile.TemporaryDirectory() as folder, fresh_cluster(*words) as cluster:
        async with cluster.pool() as pool:
            run = Endurance(cluster, pool, minutes, length, Path(folder))
            try:
                await run.run(nodes)
            finally:
                run.report()
            return {"read": run.read, "failures": run.troubles}


def main() -> None:
    """Run once."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=int, default=120)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--round", type=float, default=10.0, help="minutes")
    parser.add_argument(
        "--scrapes", type=int, default=15, help="seconds between two; 0: no Prometheus"
    )
    parser.add_argument("--into", type=Path, help="JSON file for what was read")
    given = parser.parse_args()
    found = asyncio.run(_endure(given.minutes, given.nodes, round(given.round * 60), given.scrapes))
    if given.into is not None:
        given.into.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
