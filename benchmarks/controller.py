"""Measures what the controller costs: CPU for a node and for a pod, memory, and API requests.

Starts a controller of its own on a cluster that has none, makes nodes and pods, waits until they are
Ready and Running, and prints the figures beside the goals and those of kwok v0.8. What is given for one
node or pod includes the renewal of leases meanwhile; the figure without it is given too. Usage:

    python -m benchmarks.controller KUBECONFIG [--nodes 500] [--pods 2000] [--bare] [--keep]
"""

import argparse
import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from benchmarks.report import Row, report
from kwokctl.clusters.state.cluster_stages import stages_in_force
from kwokctl.components.catalog import usual_options
from kwokctl.dataplane.api_plane import ApiPlane
from kwokctl.dataplane.port import ObjectKey
from kwokctl.errors import ApiError
from kwokctl.kube.client import Client
from kwokctl.kube.collections.paging import ListQuery, list_pages
from kwokctl.kube.kubeconfig.access import load_access
from kwokctl.kube.resource import NODES, PODS, Resource
from kwokctl.kube.transport.pool import Pool

NODE_MS, POD_MS, RSS_MB = 1.0, 0.6, 200.0
"""The goals."""
KWOK_NODE_MS, KWOK_POD_MS, KWOK_RSS_MB = 3.6, 2.0, 172.0
"""What kwok needs for a node to Ready, for a pod to Running, and for 5,000 and 10,000 of them."""
PARALLEL_REQUESTS = 32
PATIENCE = 900.0
LABEL = "kwokctl-benchmark"


@dataclass(frozen=True, slots=True)
class Usage:
    """What processes have used up to a moment."""

    cpu: float
    writes: float
    renewals: float
    at: float


class Measured:
    """A controller under measurement."""

    def __init__(self, kubeconfig: Path, folder: Path, lease: int) -> None:
        config = folder / "stages.yaml"
        config.write_bytes(
            b"\n---\n".join(map(orjson.dumps, stages_in_force(usual_options(), ()).documents))
        )
        self.token = folder / "token"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{probe.getsockname()[1]}"
        words = [
            *(sys.executable, "-m", "kwokctl.controller", "--manage-all-nodes"),
            *(f"--kubeconfig={kubeconfig}", f"--config={config}"),
            *(f"--server-address={self.address}", f"--node-lease-duration-seconds={lease}"),
            f"--server-token-file={self.token}",
            *("--node-ip=127.0.0.1", "--node-name=localhost", "--node-port=10250"),
        ]
        self.process = subprocess.Popen(words)

    def get(self, path: str) -> str:
        request = urllib.request.Request(f"http://{self.address}{path}")
        request.add_header("Authorization", f"Bearer {self.token.read_text().strip()}")
        with urllib.request.urlopen(request, timeout=5) as answer:
            text: str = answer.read().decode()
            return text

    def is_ready(self) -> bool:
        try:
            return self.get("/readyz") == "ok"
        except OSError:
            return False

    def metric(self, pattern: str) -> float:
        found = re.findall(rf"^{pattern} (\S+)$", self.get("/metrics"), re.MULTILINE)
        return sum(map(float, found))

    def cpu(self) -> float:
        words = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def rss(self) -> float:
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def usage(self) -> Usage:
        return Usage(
            self.cpu(),
            self.metric(r"kwok_controller_writes_total\{.*\}"),
            self.metric(r"kwok_controller_lease_writes_total\{.*\}"),
            time.monotonic(),
        )

    def stop(self) -> float:
        begun = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        return time.monotonic() - begun


def node(number: int, *, bare: bool) -> dict[str, Any]:
    """Make a node as `scale` does, or one without a status."""
    cidr = f"10.{number // 256}.{number % 256}.0/24"
    body: dict[str, Any] = {
        "metadata": {"name": f"bench-{number:06d}", "labels": {LABEL: "", "type": "kwok"}},
        "spec": {"podCIDR": cidr, "podCIDRs": [cidr]},
    }
    if not bare:
        kinds = {"Ready": "True", "MemoryPressure": "False", "DiskPressure": "False",
                 "PIDPressure": "False", "NetworkUnavailable": "False"}  # fmt: skip
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        amounts = {"cpu": "32", "memory": "256Gi", "pods": "110"}
        body["status"] = {
            "phase": "Running",
            "allocatable": amounts,
            "capacity": amounts,
            "addresses": [{"type": "InternalIP", "address": f"192.0.{number // 256}.{number % 256}"}],
            "conditions": [
                {"type": kind, "status": status, "reason": "Benchmark", "message": "as ever",
                 "lastHeartbeatTime": stamp, "lastTransitionTime": stamp}
                for kind, status in kinds.items()
            ],
        }  # fmt: skip
    return body


def pod(number: int, nodes: int) -> dict[str, Any]:
    """Make a pod that is bound to a node."""
    return {
        "metadata": {"name": f"bench-{number:06d}", "namespace": "default", "labels": {LABEL: ""}},
        "spec": {
            "nodeName": f"bench-{number % nodes:06d}",
            "containers": [{"name": "c", "image": "busybox"}],
        },
    }


async def create(
    plane: ApiPlane, resource: Resource, namespace: str | None, bodies: Iterable[Any]
) -> None:
    """Create objects, many at once."""
    left = iter(bodies)

    async def some() -> None:
        for body in left:
            await plane.create(resource, namespace, orjson.dumps(body))

    async with asyncio.TaskGroup() as tasks:
        for _ in range(PARALLEL_REQUESTS):
            tasks.create_task(some())


async def delete(plane: ApiPlane, client: Client, resource: Resource) -> None:
    """Ask for the deletion of all that was made; deleting it is the controller's part."""
    pages = list_pages(client.pool, ListQuery(resource=resource, label_selector=LABEL))
    raws = [orjson.loads(bytes(raw)) async for page in pages for raw in page.objects]
    left = iter(raws)

    async def some() -> None:
        for body in left:
            metadata = body["metadata"]
            try:
                await plane.delete(ObjectKey(resource, metadata.get("namespace"), metadata["name"]))
            except ApiError as e:
                if e.status != 404:
                    raise

    async with asyncio.TaskGroup() as tasks:
        for _ in range(PARALLEL_REQUESTS):
            tasks.create_task(some())


async def until(what: str, holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    try:
        async with asyncio.timeout(PATIENCE):
            while not holds():  # noqa: ASYNC110 - another process sets no event
                await asyncio.sleep(0.1)
    except TimeoutError:
        sys.exit(f"{what}: not reached in {PATIENCE:g} s")


@dataclass(slots=True)
class Run:
    """One measurement: what is measured, on which cluster, and how much of it."""

    controller: Measured
    plane: ApiPlane
    client: Client
    words: argparse.Namespace
    renewal: float = 0.0
    """CPU seconds of one lease renewal."""
    rows: list[Row] = field(default_factory=list)

    async def all(self) -> None:
        """Make nodes and pods, take the figures, and remove them again."""
        await until("controller ready", self.controller.is_ready)
        self.rows.append(Row("memory, idle", self.controller.rss(), "MB"))
        await self.nodes()
        await self.rest()
        await self.pods()
        if not self.words.keep:
            await self.deletion()
        report(f"controller, {self.words.nodes} nodes and {self.words.pods} pods", self.rows)

    async def nodes(self) -> None:
        """Measure nodes until they are Ready and their leases are held."""
        controller, words = self.controller, self.words
        before = controller.usage()
        bodies = (node(number, bare=words.bare) for number in range(words.nodes))
        await create(self.plane, NODES, None, bodies)
        held = 'kwok_controller_leases\\{state="held"\\}'
        await until("nodes held", lambda: controller.metric(held) >= words.nodes)
        if words.bare:
            await until("nodes ready", lambda: self.played("node-initialize") >= words.nodes)
        self.report("node to Ready", words.nodes, before, goal=NODE_MS, kwok=KWOK_NODE_MS)

    async def rest(self) -> None:
        """Measure what leases cost while nothing happens."""
        await asyncio.sleep(3)
        before = self.controller.usage()
        await asyncio.sleep(self.words.idle)
        after = self.controller.usage()
        cpu, renewals = after.cpu - before.cpu, after.renewals - before.renewals
        self.renewal = cpu / renewals if renewals else 0.0
        self.rows.append(Row("lease renewal", self.renewal * 1000, "ms"))
        self.rows.append(Row("leases renewed", renewals / (after.at - before.at), "/s"))

    async def pods(self) -> None:
        """Measure pods until they run, and memory when they do."""
        words, before = self.words, self.controller.usage()
        bodies = (pod(number, words.nodes) for number in range(words.pods))
        await create(self.plane, PODS, "default", bodies)
        await until("pods running", lambda: self.played("pod-ready") >= words.pods)
        self.report("pod to Running", words.pods, before, goal=POD_MS, kwok=KWOK_POD_MS)
        await asyncio.sleep(1)
        rss = self.controller.rss()
        self.rows.append(Row("memory", rss, "MB", RSS_MB))
        self.rows.append(Row("memory, of kwok's at 5,000 and 10,000", rss / KWOK_RSS_MB, ""))

    async def deletion(self) -> None:
        """Measure the deletion of the pods, and remove the nodes."""
        before = self.controller.usage()
        await delete(self.plane, self.client, PODS)
        objects = 'kwok_controller_objects\\{kind="Pod"\\}'
        await until("pods gone", lambda: self.controller.metric(objects) == 0)
        self.report("pod deleted", self.words.pods, before)
        await delete(self.plane, self.client, NODES)

    def played(self, stage: str) -> float:
        """Return how often a stage was played."""
        pattern = rf'kwok_controller_plays_total\{{stage="{stage}",outcome="ok"\}}'
        return self.controller.metric(pattern)

    def report(
        self,
        what: str,
        count: int,
        before: Usage,
        *,
        goal: float | None = None,
        kwok: float | None = None,
    ) -> None:
        """Note what each of `count` objects has cost since `before`."""
        after = self.controller.usage()
        cpu = after.cpu - before.cpu
        net = cpu - (after.renewals - before.renewals) * self.renewal
        self.rows.append(Row(what, cpu * 1000 / count, "ms", goal))
        if self.renewal:
            self.rows.append(Row(f"{what}, without leases", net * 1000 / count, "ms", goal))
        if kwok is not None:
            self.rows.append(Row(f"{what}, of kwok's", cpu * 1000 / count / kwok, ""))
        self.rows.append(Row(f"{what}, writes", (after.writes - before.writes) / count, ""))
        self.rows.append(Row(f"{what}, pace", count / (after.at - before.at), "/s"))


async def main() -> None:
    """Read the words of the command and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("kubeconfig", type=Path)
    parser.add_argument("--nodes", type=int, default=500)
    parser.add_argument("--pods", type=int, default=2000)
    parser.add_argument("--idle", type=float, default=10.0, help="seconds to look at rest")
    parser.add_argument("--lease", type=int, default=200, help="seconds that a lease lasts")
    parser.add_argument("--bare", action="store_true", help="nodes without a status")
    parser.add_argument("--keep", action="store_true", help="delete nothing afterwards")
    words = parser.parse_args()
    pool = Pool(load_access(words.kubeconfig), connections=PARALLEL_REQUESTS)
    with tempfile.TemporaryDirectory() as folder:
        controller = Measured(words.kubeconfig, Path(folder), words.lease)
        try:
            await Run(controller, ApiPlane(pool), Client(pool), words).all()
        finally:
            print(f"stopped within {controller.stop():.2f} s")
            await pool.close()


if __name__ == "__main__":
    asyncio.run(main())
