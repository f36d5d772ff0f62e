"""How fast a large cluster is saved and restored, beside etcdctl and the API server's own boot.

    python -m benchmarks.snapshot [--megabytes 500]

etcd is filled with ConfigMaps while the API server is stopped. The floor of a restore is the time
the API server alone needs to boot on those data: it reads them all before it is ready.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from benchmarks.create import wait_for
from benchmarks.report import Row, report
from kwokctl.clusters.snapshot import restore_snapshot, save_snapshot
from kwokctl.clusters.start import start_cluster
from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.clusters.state.saved import load
from kwokctl.clusters.stop import stop_cluster
from kwokctl.clusters.tools import etcdctl_command
from kwokctl.etcd import shim
from kwokctl.host.paths import WorkDir, cache_dir
from kwokctl.model import ETCD, KUBE_APISERVER

ROUNDS = 3
NAME = cluster_name("bench")
_VALUE = 5_000
_BATCH = 100


def main() -> None:
    """Fill a cluster, then print saving and restoring beside what they cannot beat."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--megabytes", type=int, default=500)
    megabytes = parser.parse_args().megabytes
    with tempfile.TemporaryDirectory(prefix="kwokctl-bench-") as folder:
        home = Home(workdir=WorkDir(Path(folder)), cache=cache_dir())
        _kwokctl(folder, "create", "cluster", "--wait=2m", "--kubeconfig=")
        try:
            asyncio.run(_measure(home, Path(folder), megabytes))
        finally:
            _kwokctl(folder, "delete", "cluster", "--kubeconfig=")


async def _measure(home: Home, folder: Path, megabytes: int) -> None:
    await _fill(home, megabytes)
    await start_cluster(home, NAME, wait=0)
    ours, theirs = [], []
    for number in range(ROUNDS):
        path = folder / f"{number}.db"
        ours.append(await _timed(lambda: save_snapshot(home, NAME, path, force=True)))  # noqa: B023 - awaited here
        theirs.append(await _etcdctl_save(home, folder / f"etcdctl-{number}.db"))
    boots, restores = [], []
    for _ in range(ROUNDS):
        boots.append(await _boot_alone(home))
        restores.append(await _timed(lambda: restore_snapshot(home, NAME, folder / "0.db")))
    size = (folder / "0.db").stat().st_size / 1e6
    report(
        f"snapshot save, {size:.0f} MB",
        [
            Row("etcdctl snapshot save", statistics.median(theirs), "s"),
            Row("kwokctl's, within the process", statistics.median(ours), "s"),
            Row(
                "ratio, round by round",
                statistics.median(a / b for a, b in zip(ours, theirs, strict=True)),
                "",
                goal=1.0,
            ),
        ],
    )
    more = statistics.median(a - b for a, b in zip(restores, boots, strict=True))
    report(
        f"snapshot restore, {size:.0f} MB",
        [
            Row("API server alone, exec to /readyz", statistics.median(boots), "s"),
            Row("kwokctl's, all components ready", statistics.median(restores), "s"),
            Row("more than the API server alone", more, "s", goal=3.0),
        ],
    )


async def _fill(home: Home, megabytes: int) -> None:
    await stop_cluster(home, NAME)
    paths = home.paths(NAME)
    runtime = home.runtime("binary")
    await runtime.start(NAME, ETCD)
    plan = load(paths, NAME).plan(runtime, paths)
    await wait_for(plan.components[ETCD].ready[0])
    await asyncio.to_thread(_put, str(paths.etcd_socket), megabytes * 1_000_000 // _VALUE)
    await runtime.stop(NAME, ETCD)


def _put(socket: str, count: int) -> None:
    client: Any = shim.load().client(host="unix", port=socket, timeout=60)
    for first in range(0, count, _BATCH):
        puts = [
            client.transactions.put(f"/registry/configmaps/default/filler-{n:07d}", _filler(n))
            for n in range(first, min(first + _BATCH, count))
        ]
        client.transaction(compare=[], success=puts, failure=[])
    client.close()


def _filler(number: int) -> str:
    metadata = {
        "name": f"filler-{number:07d}",
        "namespace": "default",
        "uid": str(uuid.uuid4()),
        "creationTimestamp": "2026-01-01T00:00:00Z",
    }
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    return json.dumps(body | {"data": {"text": "x" * (_VALUE - len(json.dumps(body)))}})


async def _boot_alone(home: Home) -> float:
    """Boot etcd and the API server of the cluster on its data, and stop them again."""
    await stop_cluster(home, NAME)
    paths = home.paths(NAME)
    runtime = home.runtime("binary")
    plan = load(paths, NAME).plan(runtime, paths)
    began = time.perf_counter()
    await runtime.start(NAME, ETCD, KUBE_APISERVER)
    await wait_for(plan.components[KUBE_APISERVER].ready[0])
    took = time.perf_counter() - began
    await start_cluster(home, NAME, wait=0)
    return took


async def _etcdctl_save(home: Home, path: Path) -> float:
    words, env = await etcdctl_command(home, NAME)
    began = time.perf_counter()
    _run([*words, "snapshot", "save", str(path)], env)
    took = time.perf_counter() - began
    path.unlink()  # noqa: ASYNC240 - nothing else runs
    return took


async def _timed(work: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await work()
    return time.perf_counter() - began


def _kwokctl(folder: str, *words: str) -> None:
    _run([sys.executable, "-m", "kwokctl", f"--name={NAME}", *words], {"KWOK_WORKDIR": folder})


def _run(words: list[str], env: dict[str, str]) -> None:
    subprocess.run(words, check=True, capture_output=True, env={**os.environ, **env})


if __name__ == "__main__":
    main()
