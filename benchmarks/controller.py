"""Measures what the controller costs: CPU for a node and for a pod, memory, and API requests.

Starts a controller of its own on a cluster that has none, makes nodes and pods, waits until they are
Ready and Running, and prints the figures with their ratio to those of kwok v0.8. Usage:

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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from kwokctl import assets
from kwokctl.dataplane.api import ApiPlane
from kwokctl.dataplane.port import Target
from kwokctl.errors import ApiError
from kwokctl.kube.access import load_access
from kwokctl.kube.client import Client
from kwokctl.kube.http import Pool
from kwokctl.kube.resource import NODES, PODS, Resource

STAGES = (
    "node-initialize",
    "node-heartbeat-with-lease",
    "pod-ready",
    "pod-complete",
    "pod-delete",
)
KWOK_NODE_MS, KWOK_POD_MS, KWOK_RSS_MB = 3.6, 2.0, 172.0
"""What kwok needs for a node to Ready, for a pod to Running, and for 5,000 and 10,000 of them."""
AT_ONCE = 32
PATIENCE = 900.0
LABEL = "kwokctl-benchmark"


@dataclass(frozen=True, slots=True)
class Usage:
    """What processes have used up to a moment."""

    cpu: float
    requests: float
    at: float


class Measured:
    """A controller under measurement."""

    def __init__(self, kubeconfig: Path, folder: Path, lease: int) -> None:
        config = folder / "stages.yaml"
        config.write_text("\n---\n".join(assets.text(f"stages/{name}.yaml") for name in STAGES))
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{probe.getsockname()[1]}"
        words = [
            *(sys.executable, "-m", "kwokctl.controller", "--manage-all-nodes"),
            *(f"--kubeconfig={kubeconfig}", f"--config={config}"),
            *(f"--server-address={self.address}", f"--node-lease-duration-seconds={lease}"),
            *("--node-ip=127.0.0.1", "--node-name=localhost", "--node-port=10250"),
        ]
        self.process = subprocess.Popen(words)

    def get(self, path: str) -> str:
        with urllib.request.urlopen(f"http://{self.address}{path}", timeout=5) as answer:
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

    def requests(self) -> float:
        writes = self.metric(r"kwok_controller_writes_total\{.*\}")
        return writes + self.metric(r"kwok_controller_lease_writes_total\{.*\}")

    def usage(self) -> Usage:
        return Usage(self.cpu(), self.requests(), time.monotonic())

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
        for _ in range(AT_ONCE):
            tasks.create_task(some())


async def delete(plane: ApiPlane, client: Client, resource: Resource) -> None:
    """Ask for the deletion of all that was made; deleting it is the controller's part."""
    pages = client.list_pages(resource, label_selector=LABEL)
    raws = [orjson.loads(bytes(raw)) async for page in pages for raw in page.objects]
    left = iter(raws)

    async def some() -> None:
        for body in left:
            metadata = body["metadata"]
            try:
                await plane.delete(Target(resource, metadata.get("namespace"), metadata["name"]))
            except ApiError as e:
                if e.status != 404:
                    raise

    async with asyncio.TaskGroup() as tasks:
        for _ in range(AT_ONCE):
            tasks.create_task(some())


async def until(what: str, holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    try:
        async with asyncio.timeout(PATIENCE):
            while not holds():  # noqa: ASYNC110 - another process sets no event
                await asyncio.sleep(0.1)
    except TimeoutError:
        sys.exit(f"{what}: not reached in {PATIENCE:g} s")


def tell(what: str, count: int, before: Usage, after: Usage, kwok_ms: float | None = None) -> None:
    """Print one line of figures."""
    ms = (after.cpu - before.cpu) * 1000 / count
    ratio = f", {kwok_ms / ms:.1f} times less than kwok's {kwok_ms:g} ms" if kwok_ms and ms else ""
    seconds = after.at - before.at
    requests = (after.requests - before.requests) / count
    print(
        f"{what}: {ms:.2f} ms CPU each{ratio}; {requests:.2f} writes each; "
        f"{count} in {seconds:.1f} s ({count / seconds:.0f}/s)"
    )


@dataclass(frozen=True, slots=True)
class Run:
    """One measurement: what is measured, on which cluster, and how much of it."""

    controller: Measured
    plane: ApiPlane
    client: Client
    words: argparse.Namespace

    async def all(self) -> None:
        """Make nodes and pods, take the figures, and remove them again."""
        await until("controller ready", self.controller.is_ready)
        print(f"controller, idle: {self.controller.rss():.0f} MB resident")
        await self.nodes()
        await asyncio.sleep(2)
        await self.pods()
        await self.rest()
        if not self.words.keep:
            await self.deletion()

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
        tell("node to Ready", words.nodes, before, controller.usage(), KWOK_NODE_MS)

    async def pods(self) -> None:
        """Measure pods until they run."""
        words, before = self.words, self.controller.usage()
        bodies = (pod(number, words.nodes) for number in range(words.pods))
        await create(self.plane, PODS, "default", bodies)
        await until("pods running", lambda: self.played("pod-ready") >= words.pods)
        tell("pod to Running", words.pods, before, self.controller.usage(), KWOK_POD_MS)

    async def rest(self) -> None:
        """Measure memory, and what leases cost while nothing happens."""
        controller, words = self.controller, self.words
        await asyncio.sleep(1)
        print(
            f"{words.nodes} nodes and {words.pods} pods: {controller.rss():.0f} MB resident "
            f"(kwok with 5,000 and 10,000: {KWOK_RSS_MB:g} MB)"
        )
        before = controller.usage()
        await asyncio.sleep(words.idle)
        after = controller.usage()
        share = (after.cpu - before.cpu) / (after.at - before.at)
        writes = (after.requests - before.requests) / words.idle
        print(f"at rest: {share:.2%} of a core, {writes:.0f} writes/s")

    async def deletion(self) -> None:
        """Measure the deletion of the pods, and remove the nodes."""
        before = self.controller.usage()
        await delete(self.plane, self.client, PODS)
        objects = 'kwok_controller_objects\\{kind="Pod"\\}'
        await until("pods gone", lambda: self.controller.metric(objects) == 0)
        tell("pod deleted", self.words.pods, before, self.controller.usage())
        await delete(self.plane, self.client, NODES)

    def played(self, stage: str) -> float:
        """Return how often a stage was played."""
        pattern = rf'kwok_controller_plays_total\{{stage="{stage}",outcome="ok"\}}'
        return self.controller.metric(pattern)


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
    pool = Pool(load_access(words.kubeconfig), connections=AT_ONCE)
    with tempfile.TemporaryDirectory() as folder:
        controller = Measured(words.kubeconfig, Path(folder), words.lease)
        try:
            await Run(controller, ApiPlane(pool), Client(pool), words).all()
        finally:
            print(f"stopped within {controller.stop():.2f} s")
            await pool.close()


if __name__ == "__main__":
    asyncio.run(main())
