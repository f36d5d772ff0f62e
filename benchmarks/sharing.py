"""How long it takes until nodes have another controller.

    python -m benchmarks.sharing [--nodes 1200] [--members 2] [--into FILE]

On a real API server with a controller-manager, and Leases of 40 s: controllers join one that holds all nodes, one
is killed, another one joins, one ends by SIGTERM. What is counted comes from watches.
"""

import argparse
import asyncio
import signal
import tempfile
import time
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from benchmarks.cluster import fresh_cluster
from benchmarks.ledger import Ledger
from benchmarks.results import FILE
from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.kube.collections.watch import watch
from kwokctl.kube.resource import NODES
from kwokctl.tasks import beside, for_each
from tests.support.controllers import KWOK, Controllers, shared_node
from tests.support.direct import encoded
from tests.support.lease_history import LeaseHistory

_LEASE = 40
_PATIENCE = 300.0
_CLUSTER = (
    "--components=etcd,kube-apiserver,kube-controller-manager", "--data-path=api", "--etcd-fsync=off"
)  # fmt: skip


def main() -> None:
    """Run the story once."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--nodes", type=int, default=1200)
    parser.add_argument("--members", type=int, default=2)
    parser.add_argument("--into", type=Path, help="JSON file that figures are added to")
    options = parser.parse_args()
    is_whole = (options.nodes, options.members) == (1200, 2)
    into = options.into or (FILE if is_whole else None)
    asyncio.run(_measure(options.nodes, options.members, into))


async def _measure(nodes: int, members: int, into: Path | None) -> None:
    with fresh_cluster(*_CLUSTER) as cluster, tempfile.TemporaryDirectory() as folder:
        controllers = Controllers(cluster.paths.kubeconfig, Path(folder), lease_seconds=_LEASE)
        try:
            async with cluster.pool() as pool:
                client = Client(pool)
                ledger = await Ledger.open(cluster, client, into)
                await _Story(client, controllers, ledger, nodes, members).run()
        finally:
            controllers.kill()


@dataclass(slots=True)
class _Story:
    client: Client
    controllers: Controllers
    ledger: Ledger
    nodes: int
    members: int
    history: LeaseHistory = field(default_factory=lambda: LeaseHistory("shared-"))
    ready: set[str] = field(default_factory=set)
    lost: set[str] = field(default_factory=set)
    """Nodes that were Ready, and then were not."""

    async def run(self) -> None:
        async with beside(self.history.follow(self.client), self._watch_nodes()):
            await self.controllers.start(KWOK)
            await for_each(range(self.nodes), self._make, at_once=20)
            await self._until(lambda: self.history.held().total() == self.nodes)
            await self._joining(self.members - 1)
            await self._ending(0, signal.SIGKILL, "killed")
            await self._joining(1)
            await self._ending(1, signal.SIGTERM, "ended")
            self._add("lost", len(self.lost), "")

    async def _make(self, number: int) -> None:
        await self.client.call("POST", NODES.path(), encoded(shared_node(number)))

    async def _joining(self, number: int) -> None:
        for _ in range(number):
            await self.controllers.start(KWOK)
        before = self.history.moves()
        seconds = await self._until(self._is_even)
        # Nothing more may change hands then but what evens out the rest.
        await asyncio.sleep(_LEASE)
        moved = self.history.moves() - before
        self._add("joined", seconds, f"{moved:,} changed hands")

    async def _ending(self, number: int, how: signal.Signals, row: str) -> None:
        holder = self.controllers.holder(number)
        held, before = self.history.held()[holder], self.history.moves()
        self.controllers.tell(number, how)
        seconds = await self._until(lambda: not self.history.held()[holder])
        moved = self.history.moves() - before
        self._add(row, seconds, f"it had {held:,}, and {moved:,} changed hands")
        print(f"  leaseTransitions {self.history.transitions()}, moves {self.history.moves()}")

    def _add(self, row: str, value: float, note: str) -> None:
        each = self.nodes // self.members
        self.ledger.add(f"taken-over-{row}", each, value, nodes=self.nodes, note=note)

    def _is_even(self) -> bool:
        alive = self.controllers.running()
        held, mean = self.history.held().values(), self.nodes / alive
        return len(held) >= alive and all(abs(n - mean) <= 0.2 * mean for n in held if n)

    async def _until(self, holds: Callable[[], bool]) -> float:
        began = time.monotonic()
        async with asyncio.timeout(_PATIENCE):
            while True:
                await asyncio.sleep(0.05)
                if holds():
                    return time.monotonic() - began

    async def _watch_nodes(self) -> None:
        async with aclosing(watch(self.client.pool, NODES, decoder=_node)) as batches:
            async for batch in batches:
                for event in batch:
                    if event.object is not None:
                        self._note(event.object)

    def _note(self, node: Json) -> None:
        conditions = node["status"].get("conditions", [])
        name = node["metadata"]["name"]
        if any(each["type"] == "Ready" and each["status"] == "True" for each in conditions):
            self.ready.add(name)
        elif name in self.ready:
            self.lost.add(name)


def _node(raw: bytes | msgspec.Raw) -> Json:
    return msgspec.json.decode(raw)


if __name__ == "__main__":
    main()
