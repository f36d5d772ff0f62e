"""Prometheus over a large fleet: are all nodes up, how long does a scrape take, and what does it cost?

    python -m benchmarks.scrapes [--nodes 10000] [--pods 100000] [--interval 60]
    python -m benchmarks.scrapes --shape dgx-h100 --nodes 1000 --pods 0 --interval 15

With a shape that has GPUs each node is scraped twice: also at the page of its GPUs.
The figures are those that Prometheus has of itself. KWOK_PROMETHEUS_BINARY names a program.
"""

import argparse
import asyncio
from dataclasses import dataclass
from urllib.parse import quote

import msgspec

from benchmarks.cluster import BenchCluster, FailedError, fresh_cluster
from benchmarks.report import Row, report
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.pool import Pool
from kwokctl.model import PROMETHEUS

_NODES = 'job="nodes"'
_GPUS = 'job="nvidia-dcgm-exporter"'
_PATIENCE = 15 * 60.0
_LOOK_EVERY = 10.0
_ROUNDS = 4
"""That are looked at when all nodes are up."""
_MEBI = 1024 * 1024


@dataclass(frozen=True, slots=True)
class PrometheusAsked:
    """The Prometheus of a cluster."""

    pool: Pool

    async def number(self, query: str) -> float:
        """Return what a query gives, 0 if that is nothing."""
        response = await self.pool.request("GET", f"/api/v1/query?query={quote(query)}")
        found = msgspec.json.decode(response.body)
        if response.status != 200:
            raise FailedError(f"Prometheus does not answer '{query}': {found}")
        result = found["data"]["result"]
        return float(result[0]["value"][1]) if result else 0.0


def _access(cluster: BenchCluster) -> Access:
    pki = cluster.paths.pki
    return Access(
        server=f"https://localhost:{cluster.port(PROMETHEUS)}",
        ca=(pki / "ca.crt").read_bytes(),
        cert=(pki / "prometheus-client.crt").read_bytes(),
        key=(pki / "prometheus-client.key").read_bytes(),
    )


async def _rows(
    cluster: BenchCluster, shape: str, nodes: int, pods: int, interval: int
) -> list[Row]:
    await cluster.kwokctl("scale", shape, f"--replicas={nodes}", "--wait=20m")
    if pods:
        await cluster.kwokctl(
            "scale", "pod", f"--replicas={pods}", "--on-nodes=type=kwok", "--wait=30m"
        )
    async with Pool(_access(cluster), connections=1) as pool:
        asked = PrometheusAsked(pool)
        waited = await _until_up(asked, nodes)
        await asyncio.sleep(_ROUNDS * interval)
        window = f"[{(_ROUNDS - 1) * interval}s]"
        up = f"min_over_time((count(up{{{_NODES}}} == 1)){window[:-1]}:{interval}s])"
        took = f"scrape_duration_seconds{{{_NODES}}}"
        of_gpus = f"scrape_duration_seconds{{{_GPUS}}}"
        spent = "rate(process_cpu_seconds_total{{job='{}'}}{}) * 100".format
        return [
            Row("targets that were up in every round", await asked.number(up), "", nodes, True),
            Row("until all were up", waited, "s"),
            Row("a scrape, median", await asked.number(f"quantile(0.5, {took})") * 1e3, "ms"),
            Row("a scrape, 99 %", await asked.number(f"quantile(0.99, {took})") * 1e3, "ms"),
            Row("a scrape, longest", await asked.number(f"max({took})") * 1e3, "ms"),
            Row("a scrape of GPUs, median", await asked.number(f"quantile(0.5, {of_gpus})") * 1e3, "ms"),
            Row("series of GPUs", await asked.number(f"sum(scrape_samples_scraped{{{_GPUS}}})"), ""),
            Row("series", await asked.number("prometheus_tsdb_head_series"), ""),
            Row("CPU of the kubelet server", await asked.number(spent("kwok-kubelet", window)), "%"),
            Row("CPU of Prometheus", await asked.number(spent("prometheus", window)), "%"),
            Row("memory of Prometheus", await _memory(asked, "prometheus"), "MiB"),
            Row("memory of the kubelet server", await _memory(asked, "kwok-kubelet"), "MiB"),
        ]  # fmt: skip


async def _memory(asked: PrometheusAsked, job: str) -> float:
    return await asked.number(f"process_resident_memory_bytes{{job='{job}'}}") / _MEBI


async def _until_up(asked: PrometheusAsked, nodes: int) -> float:
    """Return the seconds until all nodes are up."""
    clock = asyncio.get_running_loop().time
    began = clock()
    while (found := await asked.number(f"count(up{{{_NODES}}} == 1)")) < nodes:
        if clock() - began > _PATIENCE:
            raise FailedError(f"after {_PATIENCE:.0f} s {found:.0f} of {nodes} nodes are up")
        await asyncio.sleep(_LOOK_EVERY)
    return clock() - began


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--shape", default="node", help="the machine that the nodes are")
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--pods", type=int, default=100_000)
    parser.add_argument("--interval", type=int, default=60, help="seconds between two scrapes")
    given = parser.parse_args()
    words = ("--enable=prometheus", f"--prometheus-interval={given.interval}")
    with fresh_cluster(*words) as cluster:
        rows = asyncio.run(_rows(cluster, given.shape, given.nodes, given.pods, given.interval))
    report(f"Prometheus over {given.nodes:,} nodes with {given.pods:,} pods", rows)


if __name__ == "__main__":
    main()
