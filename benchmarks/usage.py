"""What it costs to tell what nodes use: a scrape of one node, and a round of metrics-server through many.

The figures of one node are the server's alone; in a round through many, server and client are one process.
"""

import asyncio
import ssl
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import msgspec

from benchmarks.kubelet_process import MeteredKubelet, metered_kubelet
from benchmarks.report import Row, report
from kwokctl.embedded.http.route_table import Route
from kwokctl.embedded.process_metrics import resident_bytes
from kwokctl.fleet.allocations import Allocation
from kwokctl.fleet.devices import GPU, device_ids
from kwokctl.kubelet.fleet.views import ContainerView, NodeView, PodView
from kwokctl.kubelet.telemetry.gpu_pages import GpuPages
from kwokctl.kubelet.telemetry.gpu_state import GpuStates
from kwokctl.kubelet.usage.metric_pages import usual_metrics
from kwokctl.kubelet.usage.node_meters import FleetMeters
from kwokctl.kubelet.usage.usage_routes import UsageRoutes, check_usage_documents
from kwokctl.kubelet.usage.usage_rules import read_usages
from tests.support.kubelet_rig import FakeFleet, client_tls, serving_kubelet

_SERIES, _SCRAPES = 5, 100
_NODES, _PODS = 10_000, 10
_MANY_PODS = 100
_GPUS = 8
_RESOURCE, _DCGM = "metrics/resource", "dcgm"
_TRAINING = {"kwok.x-k8s.io/usage-nvidia.com-gpu": "{training: {step: 5s}}"}
_MEBI = 1024 * 1024


def main() -> None:
    """Measure and print."""
    check_usage_documents([usual_metrics()])
    with metered_kubelet(_routes_of_one_node) as kubelet:
        one = asyncio.run(_one_node(kubelet, _RESOURCE))
    with metered_kubelet(_routes_of_gpus) as kubelet:
        gpus = asyncio.run(_one_node(kubelet, _DCGM))
    with tempfile.TemporaryDirectory(prefix="kwokctl-bench-") as folder:
        many = asyncio.run(_rounds(Path(folder), client_tls()))
    report(f"usage of one node with {_MANY_PODS} pods, over TLS", one)
    report(f"a node with {_GPUS} GPUs, each of another pod, over TLS", gpus)
    report(f"usage of {_NODES:,} nodes with {_NODES * _PODS:,} pods, over TLS", many)


def _routes_of_one_node() -> Sequence[Route]:
    check_usage_documents([usual_metrics()])
    return _usage(1, _MANY_PODS).routes()


def _routes_of_gpus() -> Sequence[Route]:
    check_usage_documents([usual_metrics()])
    fleet = FakeFleet()
    started = time.time() - 3600
    labels = {f"{GPU}.product": "NVIDIA-H100-80GB-HBM3", f"{GPU}.memory": "81559"}
    capacity = {GPU: str(_GPUS)}
    node = NodeView(name=_name(0), uid="n", created=started, labels=labels, capacity=capacity)
    fleet.put_node(node)
    for index, device in enumerate(device_ids(node.name, labels, {GPU: _GPUS}, GPU)):
        held = (Allocation(container="app", resource=GPU, device_id=device),)
        pod = _pod(node.name, f"pod-{index}", started)
        fleet.put_pod(msgspec.structs.replace(pod, devices=held, annotations=_TRAINING))
    return _served(fleet).routes()


async def _one_node(kubelet: MeteredKubelet, page: str) -> list[Row]:
    kept = await _Scraper.connected(kubelet.port, kubelet.tls)
    await kept.scrape(0, page)

    async def on_new() -> None:
        scraper = await _Scraper.connected(kubelet.port, kubelet.tls)
        await scraper.scrape(0, page)
        scraper.close()

    of_kept = await _least(kubelet, lambda: kept.scrape(0, page))
    of_new = await _least(kubelet, on_new)
    kept.close()
    return [
        Row("a scrape on a kept connection", of_kept * 1e3, "ms CPU", goal=1.0),
        Row("a scrape on a new connection", of_new * 1e3, "ms CPU", goal=2.5),
    ]


async def _least(kubelet: MeteredKubelet, scrape: Callable[[], Awaitable[None]]) -> float:
    """Return the CPU seconds of a scrape, in the best of some series."""
    found = []
    for _ in range(_SERIES):
        before = kubelet.cpu_seconds()
        for _ in range(_SCRAPES):
            await scrape()
        found.append((kubelet.cpu_seconds() - before) / _SCRAPES)
    return min(found)


async def _rounds(folder: Path, tls: ssl.SSLContext) -> list[Row]:
    usage = _usage(_NODES, _PODS)
    before = resident_bytes()
    async with serving_kubelet(usage.routes(), folder) as kubelet:
        kept = await _Scraper.connected(kubelet.port, tls)
        first, second = await _round(kept), await _round(kept)
        kept.close()
    grown = (resident_bytes() - before) / _MEBI
    return [
        Row("the first round", first, "s CPU", goal=15.0),
        Row("another round", second, "s CPU", goal=15.0),
        Row("memory of meters and pages", grown, "MiB"),
    ]


async def _round(scraper: "_Scraper") -> float:
    began = time.process_time()
    for number in range(_NODES):
        await scraper.scrape(number)
    return time.process_time() - began


class _Scraper:
    """A connection that is kept."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def connected(cls, port: int, tls: ssl.SSLContext) -> "_Scraper":
        name = "localhost"
        return cls(*await asyncio.open_connection("127.0.0.1", port, ssl=tls, server_hostname=name))

    async def scrape(self, node: int, page: str = _RESOURCE) -> None:
        """Ask for a page of a node, and read all of it."""
        path = f"/metrics/nodes/{_name(node)}/{page}"
        self._writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        head = await self._reader.readuntil(b"\r\n\r\n")
        size = int(head.lower().partition(b"content-length:")[2].partition(b"\r")[0])
        await self._reader.readexactly(size)

    def close(self) -> None:
        self._writer.close()


def _name(number: int) -> str:
    return f"node-{number:06d}"


def _usage(nodes: int, pods: int) -> UsageRoutes:
    fleet = FakeFleet()
    started = time.time() - 3600
    for number in range(nodes):
        fleet.put_node(NodeView(name=_name(number), uid=f"n{number}", created=started))
        for index in range(pods):
            fleet.put_pod(_pod(_name(number), f"pod-{number:06d}-{index:03d}", started))
    return _served(fleet)


def _served(fleet: FakeFleet) -> UsageRoutes:
    meters = FleetMeters(fleet, read_usages([]), time.time)
    return UsageRoutes(fleet, [usual_metrics()], meters, GpuPages(GpuStates(meters)))


def _pod(node: str, name: str, started: float) -> PodView:
    container = ContainerView(name="app", is_running=True, started_at=started)
    return PodView(
        namespace="default", name=name, uid=f"uid-{name}", node=node, containers=(container,),
        annotations={"kwok.x-k8s.io/usage-cpu": "250m"}, phase="Running", created=started,
    )  # fmt: skip


if __name__ == "__main__":
    main()
