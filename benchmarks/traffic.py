"""Pods that come and go all the time: stamped by `scale`, and made by a client as users make them."""

import asyncio
import itertools
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from benchmarks.cluster import BenchCluster
from kwokctl.kube.client import Client
from kwokctl.kube.resource import PODS
from tests.support.client_writes import delete

_NAMESPACE = "default"
_LIFE = 20.0
"""Seconds between the creation of a client's pod and its deletion."""
_WAVE = 20.0
"""Seconds between the beginnings of two waves."""
_SETS = ("wave-a", "wave-b")
_BEAT = 0.1


@dataclass(slots=True)
class Traffic:
    """Pods on the nodes of one cluster, some a second."""

    cluster: BenchCluster
    client: Client
    nodes: int
    rate: float
    """Pods a second, of which each of the two kinds is one half."""
    clock: Callable[[], float]
    created: int = 0
    _living: deque[tuple[float, str]] = field(default_factory=deque)
    """Pods of the client, with the moments of their creation."""

    async def run(self, seconds: float) -> None:
        """Let pods come and go for so long, and delete those that are left."""
        end = self.clock() + seconds
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._waves(end))
            tasks.create_task(self._stream(end))
        for name in _SETS:
            await self.cluster.kwokctl("scale", "pod", name, "--replicas=0")
        while self._living:
            await self._delete(self._living.popleft()[1])

    async def _waves(self, end: float) -> None:
        """Stamp a set of pods, then delete the one before, in turns."""
        size = round(self.rate / 2 * _WAVE)
        for number in itertools.count():
            began = self.clock()
            if began >= end:
                return
            coming, going = _SETS[number % 2], _SETS[(number + 1) % 2]
            node = f'.nodeName="{self._node(number)}"'
            await self.cluster.kwokctl(
                "scale", "pod", coming, f"--replicas={size}", "--param", node
            )
            self.created += size
            await self.cluster.kwokctl("scale", "pod", going, "--replicas=0")
            await asyncio.sleep(max(0.0, began + _WAVE - self.clock()))

    async def _stream(self, end: float) -> None:
        """Create pods with a node one by one, and delete each when it has lived long enough."""
        began = self.clock()
        number = 0
        while (now := self.clock()) < end:
            due = int((now - began) * self.rate / 2)
            async with asyncio.TaskGroup() as tasks:
                for each in range(number, due):
                    tasks.create_task(self._create(each, now))
                while self._living and self._living[0][0] + _LIFE < now:
                    tasks.create_task(self._delete(self._living.popleft()[1]))
            number = due
            await asyncio.sleep(_BEAT)

    async def _create(self, number: int, now: float) -> None:
        name = f"user-{number:07d}"
        body = msgspec.json.encode(_pod(name, self._node(number)))
        await self.client.create(PODS, _NAMESPACE, body)
        self._living.append((now, name))
        self.created += 1

    async def _delete(self, name: str) -> None:
        await delete(self.client, PODS, _NAMESPACE, name)

    def _node(self, number: int) -> str:
        return f"node-{number % self.nodes:06d}"


def _pod(name: str, node: str) -> dict[str, Any]:
    container = {"name": "container-0", "image": "busybox"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"nodeName": node, "containers": [container]},
    }
