"""Loads in virtual time: a cluster in memory that takes as long for each request as a test says."""

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from kwokctl.config.config_documents import Document
from kwokctl.errors import ApiError, NotFoundError
from kwokctl.expr import yaml
from kwokctl.kube.client import Client
from kwokctl.kube.resource import KNOWN, Resource
from kwokctl.load.arrival import Arrival
from kwokctl.load.client.sender import LoadSender
from kwokctl.load.load_documents import Load, read_load
from kwokctl.load.load_verdict import LoadVerdict
from kwokctl.load.sending.one_load import LoadRun, RunContext
from kwokctl.progress import Silent
from tests.support.virtual_time import run

POD = """
apiVersion: v1
kind: Pod
spec: {containers: [{name: a, image: x}]}
"""


def document(spec: str | dict[str, Any], name: str = "web") -> Document:
    """Return the document of a load with this spec."""
    body = {
        "apiVersion": "kwokctl.dev/v1alpha1",
        "kind": "Load",
        "metadata": {"name": name},
        "spec": yaml.load(spec) if isinstance(spec, str) else spec,
    }
    return Document(
        kind="Load", api_version="kwokctl.dev/v1alpha1", name=name, body=body, source="load.yaml"
    )


def load_of(arrivals: Any, name: str = "web", folder: Path = Path(), **more: Any) -> Load:
    """Return a load that creates pods, unless `more` says otherwise."""
    acts = {"create": [{"template": POD}]} if "create" not in more else {}
    spec = {"arrivals": arrivals, **acts, **{key.rstrip("_"): each for key, each in more.items()}}
    return read_load(document(spec, name), folder)


class MemoryCluster(Client):
    """Takes requests, one after the other, and answers each after some seconds."""

    def __init__(self, *, seconds: float = 0.0, at_once: int = 1) -> None:
        self._seconds, self._slots = seconds, asyncio.Semaphore(at_once)
        self.bodies: list[dict[str, Any]] = []
        self.sent: list[float] = []
        """When each request came."""
        self.deleted: list[tuple[float, str]] = []
        """When which object was deleted."""
        self.refuse: Callable[[dict[str, Any], int], ApiError | None] = lambda _, __: None
        """Is given an object, and how many were asked for before."""
        self.most = self._under_way = 0
        self.ended = 0.0
        """When all loads were over."""

    async def resource_for(self, api_version: str, kind: str) -> Resource:
        found = [each for each in KNOWN if (each.api_version, each.kind) == (api_version, kind)]
        if not found:
            raise NotFoundError(f"this cluster has no kind '{kind}' in '{api_version}'")
        return found[0]

    async def call(
        self, method: str, path: str, body: bytes = b"", *, content_type: str = ""
    ) -> bytes:
        if method == "DELETE":
            self.deleted.append((asyncio.get_running_loop().time(), path.rpartition("/")[2]))
            return b"{}"
        value = json.loads(body)
        number = len(self.sent)
        self.sent.append(asyncio.get_running_loop().time())
        self._under_way += 1
        self.most = max(self.most, self._under_way)
        async with self._slots:
            await asyncio.sleep(self._seconds)
        self._under_way -= 1
        if refusal := self.refuse(value, number):
            raise refusal
        self.bodies.append(value)
        value["metadata"] |= {"uid": f"uid-{number}", "namespace": path.split("/")[4]}
        return json.dumps(value).encode()


class Observed:
    """Keeps the arrivals."""

    def __init__(self) -> None:
        self.arrivals: list[Arrival] = []

    def arrived(self, arrival: Arrival) -> None:
        self.arrivals.append(arrival)

    @property
    def by_number(self) -> list[Arrival]:
        return sorted(self.arrivals, key=lambda each: each.index)


def played(
    load: Load, cluster: Callable[[], MemoryCluster] = MemoryCluster, *, speed: float = 1.0
) -> tuple[LoadVerdict, Observed, MemoryCluster]:
    """Run one load on a clock that jumps, and return what became of it."""
    verdicts, observed, used = play([load], cluster, speed=speed)
    return verdicts[0], observed, used


def play(
    loads: Sequence[Load],
    cluster: Callable[[], MemoryCluster] = MemoryCluster,
    *,
    seed: int = 0,
    speed: float = 1.0,
) -> tuple[list[LoadVerdict], Observed, MemoryCluster]:
    """Run loads side by side on a clock that jumps."""
    observed = Observed()

    async def work() -> tuple[list[LoadVerdict], Observed, MemoryCluster]:
        loop, used = asyncio.get_running_loop(), cluster()
        context = RunContext(run="test", seed=seed, speed=speed, sink=observed)
        runs = {
            load.name: LoadRun(
                load, LoadSender(used, load.spec, lambda: round(loop.time() * 1e9)), context
            )
            for load in loads
        }
        async with asyncio.TaskGroup() as group:
            for each in runs.values():
                group.create_task(each.go(runs.get(each.load.spec.after), Silent()))
        used.ended = loop.time()
        return [each.tally.verdict() for each in runs.values()], observed, used

    return run(work())
