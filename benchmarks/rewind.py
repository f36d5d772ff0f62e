"""How fast a cluster is marked and taken back, by the number of objects that have changed.

    python -m benchmarks.rewind

A rewind ends when the controller-manager works again.
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable
from functools import partial
from pathlib import Path

from benchmarks.report import Row, report
from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.clusters.time_travel.mark import mark_cluster
from kwokctl.clusters.time_travel.rewind import rewind_cluster
from kwokctl.host.paths import WorkDir, cache_dir
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import load_access
from kwokctl.kube.resource import CONFIG_MAPS
from kwokctl.kube.transport.pool import Pool
from kwokctl.tasks import for_each

ROUNDS = 3
NAME = cluster_name("bench")
GOALS = {100: 0.3, 3_000: 1.2}
"""Seconds, by the number of changed objects."""
_AT_ONCE = 32


def main() -> None:
    """Mark a cluster, change it, and take it back, several times."""
    with tempfile.TemporaryDirectory(prefix="kwokctl-bench-") as folder:
        home = Home(workdir=WorkDir(Path(folder)), cache=cache_dir())
        _kwokctl(folder, "create", "cluster", "--wait=2m", "--kubeconfig=", "--nodes=10")
        try:
            asyncio.run(_measure(home))
        finally:
            _kwokctl(folder, "delete", "cluster", "--kubeconfig=")


async def _measure(home: Home) -> None:
    marks = [await _timed(mark_cluster(home, NAME, "bench")) for _ in range(ROUNDS)]
    rows = [Row("mark, within the process", statistics.median(marks), "s", goal=0.1)]
    async with Pool(load_access(home.paths(NAME).kubeconfig)) as pool:
        for number, goal in GOALS.items():
            taken = []
            for _ in range(ROUNDS):
                await for_each(range(number), partial(_create, Client(pool)), at_once=_AT_ONCE)
                taken.append(await _timed(rewind_cluster(home, NAME, "bench")))
            median = statistics.median(taken)
            rows.append(Row(f"rewind, {number:,} changed objects", median, "s", goal=goal))
    report("marks and rewinding", rows)


async def _create(client: Client, number: int) -> None:
    body = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": f"changed-{number}"},
        "data": {"text": "x" * 500},
    }
    await client.create(CONFIG_MAPS, "default", json.dumps(body).encode())


async def _timed(work: Awaitable[object]) -> float:
    began = time.perf_counter()
    await work
    return time.perf_counter() - began


def _kwokctl(folder: str, *words: str) -> None:
    environment = {**os.environ, "KWOK_WORKDIR": folder}
    command = [sys.executable, "-m", "kwokctl", f"--name={NAME}", *words]
    subprocess.run(command, env=environment, check=True, capture_output=True)


if __name__ == "__main__":
    main()
