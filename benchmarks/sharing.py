"""How long it takes until nodes have another controller: `python -m benchmarks.sharing [NODES] [CONTROLLERS]`.

On a real API server with a controller-manager, and Leases of 40 s: controllers join one that holds all nodes, one
is killed, another one joins, one ends by SIGTERM. What is counted comes from watches.
"""

import asyncio
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path

import msgspec

from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.kube.collections.watch import watch
from kwokctl.kube.resource import NODES
from kwokctl.tasks import beside, for_each
from tests.support.controllers import Controllers, shared_node
from tests.support.direct import ask, encoded
from tests.support.installed import Installed
from tests.support.lease_history import LeaseHistory

_LEASE = 40
_PATIENCE = 300.0
_COMPONENTS = ("--components", "etcd,kube-apiserver,kube-controller-manager")


def main() -> None:
    nodes, members = (int(word) for word in (*sys.argv[1:], "1200", "2")[:2])
    with tempfile.TemporaryDirectory(prefix="kwokctl-bench-") as name:
        cluster = Installed.within(Path(name))
        controllers = Controllers(cluster, Path(name), lease_seconds=_LEASE)
        try:
            cluster.ok("create", "cluster", "--wait", "--etcd-fsync", "off", *_COMPONENTS)
            ask(cluster, lambda client: _Story(client, controllers, nodes, members).run())
        finally:
            controllers.kill()
            cluster.run("delete", "cluster")


class _Story:
    def __init__(self, client: Client, controllers: Controllers, nodes: int, members: int) -> None:
        self._client = client
        self._controllers = controllers
        self._nodes = nodes
        self._members = members
        self._history = LeaseHistory("shared-")
        self._ready: set[str] = set()
        self._lost: set[str] = set()
        """Nodes that were Ready, and then were not."""

    async def run(self) -> None:
        async with beside(self._history.follow(self._client), self._watch_nodes()):
            self._controllers.start()
            await for_each(range(self._nodes), self._make, at_once=20)
            await self._until(lambda: self._history.held().total() == self._nodes)
            await self._joining(self._members - 1)
            await self._ending(0, signal.SIGKILL)
            await self._joining(1)
            await self._ending(1, signal.SIGTERM)
            print(f"nodes that were ever not Ready again: {len(self._lost)}")

    async def _make(self, number: int) -> None:
        await self._client.call("POST", NODES.path(), encoded(shared_node(number)))

    async def _joining(self, number: int) -> None:
        for _ in range(number):
            self._controllers.start()
        before = self._history.moves()
        seconds = await self._until(self._is_even)
        # Nothing more may change hands then but what evens out the rest.
        await asyncio.sleep(_LEASE)
        moved = self._history.moves() - before
        print(f"{number} joined: within 20 % after {seconds:.1f} s, {moved} nodes moved")
        print(f"  held: {sorted(self._history.held().values())}")

    async def _ending(self, number: int, how: signal.Signals) -> None:
        holder = self._controllers.holder(number)
        held, before = self._history.held()[holder], self._history.moves()
        self._controllers.processes[number].send_signal(how)
        seconds = await self._until(lambda: not self._history.held()[holder])
        moved = self._history.moves() - before
        print(
            f"{how.name} to one with {held} nodes: taken over after {seconds:.2f} s, {moved} moved"
        )
        print(f"  leaseTransitions {self._history.transitions()}, moves {self._history.moves()}")

    def _is_even(self) -> bool:
        alive = [each for each in self._controllers.processes if each.poll() is None]
        held, mean = self._history.held().values(), self._nodes / len(alive)
        return len(held) >= len(alive) and all(abs(n - mean) <= 0.2 * mean for n in held if n)

    async def _until(self, holds: Callable[[], bool]) -> float:
        began = time.monotonic()
        async with asyncio.timeout(_PATIENCE):
            while True:
                await asyncio.sleep(0.05)
                if holds():
                    return time.monotonic() - began

    async def _watch_nodes(self) -> None:
        async with aclosing(watch(self._client.pool, NODES, decoder=_node)) as batches:
            async for batch in batches:
                for event in batch:
                    if event.object is not None:
                        self._note(event.object)

    def _note(self, node: Json) -> None:
        conditions = node["status"].get("conditions", [])
        name = node["metadata"]["name"]
        if any(each["type"] == "Ready" and each["status"] == "True" for each in conditions):
            self._ready.add(name)
        elif name in self._ready:
            self._lost.add(name)


def _node(raw: bytes | msgspec.Raw) -> Json:
    return msgspec.json.decode(raw)


if __name__ == "__main__":
    main()
