"""How long `create cluster --wait` takes beside the API server's own boot, and how long the command needs to say anything.

The floor is the time the API server alone needs from exec to `/readyz` with an empty etcd started
beside it: kwokctl cannot be faster. Both are measured in turn, several times. `benchmarks.against` compares with another kwokctl.
"""

import asyncio
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.report import Row, report
from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.clusters.state.saved import load
from kwokctl.host.paths import WorkDir, cache_dir
from kwokctl.kube.transport.probe import probe
from kwokctl.model import ETCD, KUBE_APISERVER, HttpProbe

ROUNDS = 5
_KWOKCTL = [sys.executable, "-m", "kwokctl"]


def main() -> None:
    """Print creation against its floor, and the time to the first word."""
    created, floor = zip(*(_round() for _ in range(ROUNDS)), strict=True)
    median_floor = statistics.median(floor)
    report(
        "create cluster --wait",
        [
            Row("API server alone, exec to /readyz", median_floor, "s"),
            Row("create cluster --wait, all of it", statistics.median(created), "s"),
            Row(
                "more than the API server alone", _median_difference(created, floor), "s", goal=0.8
            ),
        ],
    )
    report(
        "first word",
        [
            Row("--version", _median(lambda: _timed([*_KWOKCTL, "--version"])), "s", goal=0.25),
            Row("--help", _median(lambda: _timed([*_KWOKCTL, "--help"])), "s", goal=0.5),
        ],
    )


def _round() -> tuple[float, float]:
    with tempfile.TemporaryDirectory(prefix="kwokctl-bench-") as folder:
        workdir = Path(folder)
        flags = ["--kubeconfig=", "--name=bench"]
        env_words = ["env", f"KWOK_WORKDIR={workdir}"]
        created = _timed([*env_words, *_KWOKCTL, "create", "cluster", "--wait=2m", *flags])
        try:
            _timed([*env_words, *_KWOKCTL, "stop", "cluster", "--name=bench"])
            floor = asyncio.run(_boot_alone(workdir))
        finally:
            _timed([*env_words, *_KWOKCTL, "delete", "cluster", *flags])
    return created, floor


async def _boot_alone(workdir: Path) -> float:
    """Start etcd and the API server of a stopped cluster with an empty data directory."""
    home = Home(workdir=WorkDir(workdir), cache=cache_dir())
    name = cluster_name("bench")
    paths = home.paths(name)
    saved = load(paths, name)
    plan = saved.plan(home.runtime(saved.options.runtime), paths)
    shutil.rmtree(paths.etcd_data)
    components = [plan.components[ETCD], plan.components[KUBE_APISERVER]]
    began = time.perf_counter()
    programs = [_started([*c.artifact.command, *c.args]) for c in components]
    await wait_for(components[1].ready[0])
    took = time.perf_counter() - began
    for program in reversed(programs):
        program.kill()
        program.wait()
    return took


async def wait_for(ready: HttpProbe) -> None:
    """Ask every few milliseconds until the probe holds."""
    while not await probe(ready):  # noqa: ASYNC110 - another process sets no event
        await asyncio.sleep(0.005)


def _started(words: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _timed(words: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return time.perf_counter() - began


def _median(measure: Callable[[], float]) -> float:
    return statistics.median(measure() for _ in range(ROUNDS))


def _median_difference(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    return statistics.median(a - b for a, b in zip(one, other, strict=True))


if __name__ == "__main__":
    main()
