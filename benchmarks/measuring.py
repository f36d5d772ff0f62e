"""What the recorder of `kwokctl measure` costs: at a rate of changes, beside many pods that stay.

    python -m benchmarks.measuring [--rate 500] [--pods 100000] [--seconds 20] [--heartbeats 1000]

The API server is a program that sends pods as large as real ones, over TLS, in a process of its own.
"""

import argparse
import asyncio
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.processes import peak_bytes
from benchmarks.report import Row, report
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import JOBS, NODES, PODS
from kwokctl.kube.transport.pool import Pool
from kwokctl.measure.histories.history import LOAD_LABEL, RUN_LABEL, History
from kwokctl.measure.record.record_file import RecordWriter
from kwokctl.measure.record.record_lines import Header, Lines, PodChange, PodGone, PodSeen, RunScope
from kwokctl.measure.watching.jobs import JobTracker
from kwokctl.measure.watching.nodes import NodeTracker
from kwokctl.measure.watching.numbered_texts import Texts
from kwokctl.measure.watching.pods import PodTracker
from kwokctl.measure.watching.recorder import Followed, RunRecorder
from kwokctl.tasks import new_event_loop
from tests.support.certificates import certificates
from tests.support.fake_api_server import FakeApiServer, Reply, Request

_LABELS = (RUN_LABEL, LOAD_LABEL)
_CONDITIONS = (
    "PodReadyToStartContainers",
    "Initialized",
    "Ready",
    "ContainersReady",
    "PodScheduled",
)
_LIFE = 4
"""Changes in the life of a pod: it is created, bound, runs, and is deleted."""
_NODES = 1000
_TICKS = 50
"""A second is parted into so many."""
_SHARE, _MEMORY, _BYTES = 12.0, 300.0, 200.0
_Change = Callable[[int], tuple[str, dict[str, Any]]]
_FIELDS: dict[str, Any] = {"f:metadata": {"f:labels": {f"f:label-{n}": {} for n in range(45)}}}
_MANAGED = [{"manager": "kube-controller-manager", "operation": "Update", "fieldsV1": _FIELDS}]


def _pod(name: str, version: int, *, step: int = 2, node: int = 0) -> dict[str, Any]:
    """Return a pod of 2.7 KB: created (0), bound (1), or running."""
    owner = {"kind": "ReplicaSet", "name": "web", "uid": "b1" * 18, "controller": True}
    status: dict[str, Any] = {"phase": "Running" if step > 1 else "Pending"}
    if step:
        true = _CONDITIONS if step > 1 else _CONDITIONS[-1:]
        status["conditions"] = [{"type": each, "status": "True"} for each in true]
    return {
        "metadata": {
            "name": name, "namespace": "default", "uid": f"uid-of-{name:>28}",
            "resourceVersion": str(version), "creationTimestamp": "2026-01-02T03:04:05Z",
            "labels": {"app": "web"}, "ownerReferences": [owner], "managedFields": _MANAGED,
        },
        "spec": {
            "containers": [{"name": "x", "image": "x" * 500, "resources": {"requests": {"cpu": "1"}}}],
            **({"nodeName": f"node-{node:06}"} if step else {}),
        },
        "status": status,
    }  # fmt: skip


def _node(number: int, version: int) -> dict[str, Any]:
    """Return a node of 4 KB, whose heartbeat alone differs between versions."""
    heard = {"lastHeartbeatTime": f"2026-01-02T03:04:05Z+{version}"}
    types = ("MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable", "Ready")
    return {
        "metadata": {
            "name": f"node-{number:06}", "uid": f"uid-of-node-{number}", "resourceVersion": str(version),
            "labels": {f"example.com/label-{n}": "x" for n in range(12)}, "managedFields": _MANAGED,
        },
        "spec": {},
        "status": {
            "allocatable": {"cpu": "96", "memory": "1Ti", "nvidia.com/gpu": "8", "pods": "110"},
            "conditions": [{"type": each, "status": "True", **heard} for each in types],
            "images": [{"names": ["x" * 150], "sizeBytes": 1} for _ in range(8)],
        },
    }  # fmt: skip


class _Server:
    """Lists nodes, and pods that stay on every second, and sends changes of other pods, and heartbeats of nodes."""

    def __init__(
        self, pods: int, rate: int, seconds: int, heartbeats: int, nodes: int, at_once: int
    ) -> None:
        self._pods, self._rate, self._count = pods, rate, rate * seconds
        self._heartbeats, self._nodes, self._at_once = heartbeats, nodes, at_once

    async def handle(self, request: Request, reply: Reply) -> None:
        if request.path == "/readyz":
            await reply.send(b"ok")
        elif "watch" in request.query:
            await reply.begin()
            if request.path.endswith("/pods"):
                await self._send(reply, self._rate, self._change)
            elif request.path.endswith("/nodes"):
                await self._send(reply, self._heartbeats, self._heartbeat)
            await asyncio.Event().wait()
        else:
            await reply.send(self._page(request))

    def _page(self, request: Request) -> bytes:
        begin = int(request.query.get("continue", "0"))
        limit = int(request.query["limit"])
        is_pods, is_nodes = (request.path.endswith(each) for each in ("/pods", "/nodes"))
        whole = self._pods if is_pods else self._nodes if is_nodes else 0
        end = min(begin + limit, whole)
        more = str(end) if begin < end < whole and limit > 1 else ""
        items = [
            _pod(f"stays-{number}", 1, node=2 * number % (self._nodes or _NODES))
            if is_pods
            else _node(number, 1)
            for number in range(begin, end)
        ]
        return msgspec.json.encode(
            {"metadata": {"resourceVersion": "10", "continue": more}, "items": items}
        )

    async def _send(self, reply: Reply, rate: int, change: _Change) -> None:
        """Send changes evenly, once the recorder has begun."""
        await asyncio.sleep(2)
        clock, sent = asyncio.get_running_loop().time, 0
        begin, count = clock(), self._count // self._rate * rate
        while sent < count:
            due = min(count, int((clock() - begin) * rate))
            for number in range(sent, due):
                await reply.event(*change(number))
            sent = due
            await asyncio.sleep(1 / _TICKS)

    def _heartbeat(self, number: int) -> tuple[str, dict[str, Any]]:
        return "MODIFIED", _node(number % (self._nodes or _NODES), 11 + number)

    def _change(self, number: int) -> tuple[str, dict[str, Any]]:
        block, rest = divmod(number, _LIFE * self._at_once)
        step, place = divmod(rest, self._at_once)
        pod = block * self._at_once + place
        kind = ("ADDED", "MODIFIED", "MODIFIED", "DELETED")[step]
        return kind, _pod(f"web-{pod}", 11 + number, step=step, node=pod % (self._nodes or _NODES))


def _serve(pipe: Connection, *words: int) -> None:
    async def main() -> None:
        known = certificates()
        fake = FakeApiServer(_Server(*words).handle)
        server = await asyncio.start_server(fake.serve, "127.0.0.1", 0, ssl=known.server_context())
        pipe.send((server.sockets[0].getsockname()[1], known.ca))
        await server.serve_forever()

    asyncio.run(main())


@contextmanager
def serving_changes(
    *, pods: int, rate: int, seconds: int, heartbeats: int, nodes: int = 0, at_once: int = 1
) -> Iterator[Access]:
    """Run the API server meanwhile; yield how it is reached.

    Of the pods that change, `at_once` exist at a time.
    """
    here, there = multiprocessing.Pipe()
    spawned = multiprocessing.get_context("spawn")
    server = spawned.Process(
        target=_serve, args=(there, pods, rate, seconds, heartbeats, nodes, at_once), daemon=True
    )
    server.start()
    try:
        port, ca = here.recv()
        yield Access(server=f"https://localhost:{port}", ca=ca)
    finally:
        server.terminate()
        server.join()


async def _rows(access: Access, rate: int, seconds: int) -> list[Row]:
    count = rate * seconds
    header = Header(wall="", kwokctl="", scope=RunScope(), conditions={}, labels=_LABELS)
    history, start = History(header), time.monotonic_ns()
    all_came = asyncio.Event()

    with tempfile.TemporaryDirectory() as folder:
        with RecordWriter(Path(folder) / "run.jsonl.gz") as writer:
            changes = 0

            def emit(line: Lines) -> None:
                nonlocal changes
                writer.add(line)
                history.take(line)
                changes += isinstance(line, PodSeen | PodChange | PodGone)
                if changes == count:
                    all_came.set()

            def now() -> int:
                return time.monotonic_ns() - start

            texts = Texts(emit)
            tracker = PodTracker(emit, texts, labels=_LABELS, takes_existing=False)
            jobs = JobTracker(emit, labels=_LABELS, takes_existing=False)
            kinds = [
                Followed(resource=PODS, tracker=tracker),
                Followed(resource=JOBS, tracker=jobs),
                Followed(resource=NODES, tracker=NodeTracker(emit, texts, labels=())),
            ]
            async with (
                Pool(access, connections=8) as pool,
                RunRecorder(pool, kinds, emit, now).recording(),
            ):
                before, began = time.process_time(), time.perf_counter()
                await all_came.wait()
                spent = time.process_time() - before
                took = time.perf_counter() - began
        size = (Path(folder) / "run.jsonl.gz").stat().st_size
    return [
        Row("CPU of a change", spent / count * 1e6, "us"),
        Row(f"share of a core at {rate} a second", spent / count * rate * 100, "%", _SHARE),
        Row("memory", peak_bytes(os.getpid()) / 1e6, "MB", _MEMORY),
        Row("record of a change before compression", writer.size / count, "B", _BYTES),
        Row("record of a change", size / count, "B"),
        Row("longest that something waited", history.behind / 1e9, "s"),
        Row("changes a second", count / took, "/s"),
    ]


def main() -> None:
    """Measure it once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=int, default=500)
    parser.add_argument("--pods", type=int, default=100_000)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--heartbeats", type=int, default=0, help="of nodes, a second")
    words = parser.parse_args()
    serving = serving_changes(
        pods=words.pods, rate=words.rate, seconds=words.seconds, heartbeats=words.heartbeats
    )
    with serving as access, asyncio.Runner(loop_factory=new_event_loop) as runner:
        rows = runner.run(_rows(access, words.rate, words.seconds))
    report(f"measure: {words.rate} changes a second beside {words.pods:,} pods", rows)


if __name__ == "__main__":
    main()
