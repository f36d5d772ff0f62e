"""What happens to the leases of nodes on a real API server, as a watch shows it."""

import asyncio
from collections import Counter, defaultdict
from contextlib import aclosing
from itertools import pairwise

from kwokctl.dataplane.leases.decode import StoredLease, read_lease
from kwokctl.kube.client import Client
from kwokctl.kube.collections.watch import watch
from kwokctl.kube.resource import LEASES, NODE_LEASES


class LeaseHistory:
    """Every version of every lease of a node whose name begins with a prefix."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self.versions: defaultdict[str, list[StoredLease]] = defaultdict(list)

    async def follow(self, client: Client) -> None:
        events = watch(client.pool, LEASES, decoder=read_lease, namespace=NODE_LEASES)
        async with aclosing(events) as batches:
            async for batch in batches:
                for event in batch:
                    if event.object is not None and event.object.name.startswith(self._prefix):
                        self.versions[event.object.name].append(event.object)

    def held(self) -> Counter[str]:
        """Count the nodes of each holder."""
        return Counter(versions[-1].holder for versions in self.versions.values())

    def moves(self) -> int:
        """Count how often a lease got another holder."""
        return sum(
            before.holder != after.holder
            for versions in self.versions.values()
            for before, after in pairwise(versions)
        )

    def transitions(self) -> int:
        """Add up how often a lease was taken over, as the leases themselves say."""
        return sum(versions[-1].transitions for versions in self.versions.values())

    def longest_silence(self) -> float:
        """Return the longest time in seconds between two renewals of a lease."""
        return max(
            after.renewed - before.renewed
            for versions in self.versions.values()
            for before, after in pairwise(versions)
        )

    async def until(self, *numbers: int, patience: float = 90.0) -> None:
        """Wait until so many nodes are held by each of so many holders, in ascending order."""
        async with asyncio.timeout(patience):
            while sorted(self.held().values()) != sorted(numbers):
                await asyncio.sleep(0.05)

    async def until_shared(self, total: int, *, among: int, patience: float = 90.0) -> None:
        """Wait until all nodes are held, by so many holders; their shares may differ by one node or two."""
        async with asyncio.timeout(patience):
            while len(held := self.held()) != among or held.total() != total:
                await asyncio.sleep(0.05)
