"""How fast a cluster gets fake nodes and pods, and loses the pods again.

    python -m benchmarks.scale [--kubeconfig FILE] [--nodes 5000] [--pods 10000] [--scheduled]

Objects are made by `kwokctl scale`, in a cluster made for it unless a kubeconfig names one. When
they are ready is seen by watches of this program's own, independent of kwokctl: a node
counts when it is Ready, free of the not-ready taint and has its lease, a pod when it is Running.
"""

import argparse
import asyncio
import sys
import time
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from benchmarks.cluster import KWOKCTL, fresh_cluster
from benchmarks.processes import CONTROLLER, cpu_seconds, programs, resident_bytes
from benchmarks.report import Row, report
from kwokctl.clusters.scaling.ready_objects import Verdict, judge_of
from kwokctl.kube.collections.watch import EventType, watch
from kwokctl.kube.kubeconfig.access import Access, load_access
from kwokctl.kube.resource import LEASES, NODES, PODS
from kwokctl.kube.transport.pool import Pool

NODE_SET, POD_SET = "bench-node", "bench-pod"
_LEASES_OF_NODES = "kube-node-lease"

_GOALS = {"nodes": 130.0, "pods": 200.0, "deletions": 160.0}
_KWOK = {"nodes": 69.0, "pods": 157.0, "deletions": 124.0}
"""Objects a second of the original, measured on two cores with 5,000 nodes and 10,000 pods."""
_CONTROLLER_GOALS = {"nodes": 1.0, "pods": 0.6}
"""Milliseconds of the controller for each."""


class _Metadata(msgspec.Struct):
    name: str


class _Named(msgspec.Struct):
    metadata: _Metadata


_decode_named = msgspec.json.Decoder(_Named).decode


def _named(raw: bytes | msgspec.Raw) -> Verdict:
    """Judge something that is ready as soon as it exists."""
    return Verdict(_decode_named(raw).metadata.name, None)


@dataclass(slots=True)
class Seen:
    """The names that one watch has shown: of what exists, and of what is ready."""

    existing: set[str] = field(default_factory=set)
    ready: set[str] = field(default_factory=set)

    async def follow(self, changes: Any) -> None:
        """Keep up to date until cancelled."""
        async with aclosing(changes):
            async for events in changes:
                for event in events:
                    if event.object is not None:
                        self._note(event.object, gone=event.type is EventType.DELETED)

    def _note(self, verdict: Verdict, *, gone: bool) -> None:
        self.existing.add(verdict.name)
        self.ready.add(verdict.name)
        if gone:
            self.existing.discard(verdict.name)
        if gone or verdict.lacks is not None:
            self.ready.discard(verdict.name)


class Bench:
    """Scales, looks and prints."""

    def __init__(self, kubeconfig: Path, access: Access) -> None:
        self._kubeconfig = kubeconfig
        self._access = access
        self._programs = programs(urlsplit(access.server).port or 443)
        self._nodes, self._pods, self._leases = Seen(), Seen(), Seen()

    async def run(self, nodes: int, pods: int, params: list[str]) -> None:
        """Make nodes and pods, and delete the pods."""
        await self._scale("pod", POD_SET, "--replicas", "0")
        await self._scale("node", NODE_SET, "--replicas", "0", "--wait", "5m")
        async with self._watching():
            await self._phase(
                "nodes",
                nodes,
                lambda: len(self._nodes.ready & self._leases.ready) >= nodes,
                ["node", NODE_SET, "--replicas", str(nodes)],
            )
            await self._phase(
                "pods",
                pods,
                lambda: len(self._pods.ready) >= pods,
                ["pod", POD_SET, "--replicas", str(pods), *params],
            )
            self._print_memory()
            await self._phase(
                "deletions",
                pods,
                lambda: not self._pods.existing,
                ["pod", POD_SET, "--replicas", "0"],
            )
        await self._scale("node", NODE_SET, "--replicas", "0")

    async def _scale(self, *words: str) -> None:
        scaling = await self._scaling(*words)
        if await scaling.wait():
            sys.exit(f"scale exited with {scaling.returncode}")

    async def _scaling(self, *words: str) -> Process:
        return await asyncio.create_subprocess_exec(
            *KWOKCTL, "scale", *words, "--kubeconfig", self._kubeconfig, stderr=DEVNULL
        )

    @asynccontextmanager
    async def _watching(self) -> AsyncIterator[None]:
        label = "kwok.x-k8s.io/kwokctl-scale={}".format
        async with Pool(self._access) as pool, asyncio.TaskGroup() as tasks:
            nodes = watch(pool, NODES, decoder=judge_of("Node"), label_selector=label(NODE_SET))
            pods = watch(pool, PODS, decoder=judge_of("Pod"), label_selector=label(POD_SET))
            leases = watch(pool, LEASES, decoder=_named, namespace=_LEASES_OF_NODES)
            watching = [
                tasks.create_task(seen.follow(changes))
                for seen, changes in (
                    (self._nodes, nodes),
                    (self._pods, pods),
                    (self._leases, leases),
                )
            ]
            yield
            for task in watching:
                task.cancel()

    async def _phase(
        self, what: str, number: int, is_done: Callable[[], bool], words: list[str]
    ) -> None:
        before = {name: cpu_seconds(pid) for name, pid in self._programs.items()}
        began = time.perf_counter()
        scaling = await self._scaling(*words)
        while not is_done():
            if scaling.returncode:
                sys.exit(f"scale exited with {scaling.returncode}")
            await asyncio.sleep(0.02)
        took = time.perf_counter() - began
        await scaling.wait()
        rate = number / took
        rows = [
            Row(f"{what}, {number} of them", took, "s"),
            Row("rate", rate, "1/s", goal=_GOALS[what], at_least=True),
            Row("rate beside the original's", rate / _KWOK[what], "times"),
        ]
        for name, pid in self._programs.items():
            each = (cpu_seconds(pid) - before[name]) / number * 1000
            goal = _CONTROLLER_GOALS.get(what) if name == CONTROLLER else None
            rows.append(Row(f"CPU for each: {name}", each, "ms", goal=goal))
        report(what, rows)

    def _print_memory(self) -> None:
        if CONTROLLER in self._programs:
            megabytes = resident_bytes(self._programs[CONTROLLER]) / 1e6
            report("memory", [Row(CONTROLLER, megabytes, "MB", goal=200)])


@contextmanager
def cluster_of_its_own() -> Iterator[Path]:
    """Make a cluster, give its kubeconfig, and delete it again."""
    with fresh_cluster() as cluster:
        yield cluster.paths.kubeconfig


def main() -> None:
    """Measure the cluster that a kubeconfig names, or one of its own."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kubeconfig", type=Path)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=10000)
    parser.add_argument(
        "--scheduled", action="store_true", help="let the scheduler place the pods, not us"
    )
    options = parser.parse_args()
    on_a_node = ["--param", f'.nodeName = "{NODE_SET}-000000"']
    params = [] if options.scheduled else on_a_node
    given = nullcontext(options.kubeconfig) if options.kubeconfig else cluster_of_its_own()
    with given as kubeconfig:
        bench = Bench(kubeconfig, load_access(kubeconfig))
        asyncio.run(bench.run(options.nodes, options.pods, params))


if __name__ == "__main__":
    main()
