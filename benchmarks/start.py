"""How long the parts of a large cluster take to start again, and how much memory the controller needs.

    python -m benchmarks.start [--nodes 10000] [--pods 100000] [--rounds 3]

The cluster is stopped and started in rounds. Times run from the moment in which the API server is
ready: only then can the others read what there is. The controller must not be later than the
scheduler, which reads the same nodes and pods.
"""

import argparse
import asyncio
import statistics
import time
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.cluster import BenchCluster, fresh_cluster
from benchmarks.create import wait_for
from benchmarks.processes import CONTROLLER, cpu_seconds, peak_bytes, programs
from benchmarks.report import Row, report
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import load
from kwokctl.host.paths import WorkDir, cache_dir
from kwokctl.kube.kubeconfig.access import load_access
from kwokctl.model import (
    KUBE_APISERVER,
    KUBE_SCHEDULER,
    KWOK_CONTROLLER,
    ClusterName,
    Component,
    ComponentName,
)

_FOLLOWED = (KUBE_APISERVER, KUBE_SCHEDULER, KWOK_CONTROLLER)


def main() -> None:
    """Fill a cluster, then start it again and again."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--pods", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with fresh_cluster() as cluster:
        rounds = asyncio.run(_measure(cluster, options.nodes, options.pods, options.rounds))
    title = f"start with {options.nodes:,} nodes and {options.pods:,} pods, after the API server"
    scheduler = _median(rounds, "scheduler")
    report(
        title,
        [
            Row("kube-scheduler ready", scheduler, "s"),
            Row("kwok-controller: everything listed", _median(rounds, "ours"), "s", goal=scheduler),
            Row("CPU of kwok-controller until then", _median(rounds, "cpu"), "s"),
            Row("memory of kwok-controller at its peak", _median(rounds, "peak") / 1e6, "MB"),
        ],
    )


async def _measure(
    cluster: BenchCluster, nodes: int, pods: int, rounds: int
) -> list[Mapping[str, float]]:
    await cluster.kwokctl("scale", "node", f"--replicas={nodes}", "--wait=30m")
    await cluster.kwokctl("scale", "pod", f"--replicas={pods}", "--on-nodes=", "--wait=30m")
    components = _components(cluster)
    return [await _round(cluster, components) for _ in range(rounds)]


def _components(cluster: BenchCluster) -> Mapping[ComponentName, Component]:
    home = Home(workdir=WorkDir(cluster.workdir), cache=cache_dir())
    saved = load(cluster.paths, ClusterName(cluster.paths.root.name))
    return saved.plan(home.runtime(saved.options.runtime), cluster.paths).components


async def _round(
    cluster: BenchCluster, components: Mapping[ComponentName, Component]
) -> Mapping[str, float]:
    await cluster.kwokctl("stop", "cluster")
    async with asyncio.TaskGroup() as tasks:
        ready = {name: tasks.create_task(_ready(components[name])) for name in _FOLLOWED}
        tasks.create_task(cluster.kwokctl("start", "cluster", "--wait=10m"))
        await ready[KWOK_CONTROLLER]
        pid = _controller(cluster.paths.kubeconfig)
        spent = cpu_seconds(pid)
    began = ready[KUBE_APISERVER].result()
    return {
        "scheduler": ready[KUBE_SCHEDULER].result() - began,
        "ours": ready[KWOK_CONTROLLER].result() - began,
        "cpu": spent,
        "peak": peak_bytes(pid),
    }


async def _ready(component: Component) -> float:
    """Return the moment in which every probe of a component holds."""
    for each in component.ready:
        await wait_for(each)
    return time.perf_counter()


def _controller(kubeconfig: Path) -> int:
    return programs(urlsplit(load_access(kubeconfig).server).port or 443)[CONTROLLER]


def _median(rounds: list[Mapping[str, float]], what: str) -> float:
    return statistics.median(each[what] for each in rounds)


if __name__ == "__main__":
    main()
