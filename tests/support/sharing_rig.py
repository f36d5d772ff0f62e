"""Controllers that share the nodes of a cluster in memory, in virtual time."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import orjson

from kwokctl.controller.leases.holder import LABEL
from kwokctl.dataplane.leases.decode import read_lease
from kwokctl.kube.resource import LEASES, NODE_LEASES, NODES, PODS
from tests.support.fake_cluster import FakeCluster
from tests.support.fleet_rig import Rig, node
from tests.support.virtual_time import run


class Member(Rig):
    """One controller of several."""

    def __init__(self, cluster: FakeCluster, name: str, **more: Any) -> None:
        self.name = name
        self.is_deaf = True
        self._labelled: set[str] = set()
        super().__init__(cluster=cluster, holder=name, shares=True, **more)
        assert self.controller.membership is not None
        assert self.controller.keeper is not None
        self.membership, self.keeper = self.controller.membership, self.controller.keeper
        cluster.watch(LEASES, self.tell_lease)

    def tell_node(self, change: str, raw: bytes) -> None:
        if not self.is_deaf:
            super().tell_node(change, raw)

    def tell_pod(self, change: str, raw: bytes) -> None:
        if not self.is_deaf:
            super().tell_pod(change, raw)

    def tell_lease(self, change: str, raw: bytes) -> None:
        """Show what a watch with a label selector does."""
        lease = read_lease(raw)
        was, is_one = lease.name in self._labelled, LABEL in (lease.labels or {})
        if self.is_deaf or not (was or is_one):
            return
        (self._labelled.add if is_one else self._labelled.discard)(lease.name)
        is_deleted = change == "DELETED" or not is_one
        if not self.membership.heard(lease, is_deleted=is_deleted) and not is_deleted:
            self.keeper.heard(lease)

    async def join(self) -> None:
        await self.membership.join()
        self.is_deaf = False
        self.keeper.seed([read_lease(orjson.dumps(body)) for body in leases(self.cluster)])
        for (plural, _, _), body in tuple(self.cluster.objects.items()):
            if plural in (NODES.plural, PODS.plural):
                tell = self.tell_node if plural == NODES.plural else self.tell_pod
                tell("ADDED", orjson.dumps(body))

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Member"]:
        """Play, and leave politely in the end."""
        async with self._running():
            yield self
        if not self.is_deaf:
            await self.membership.leave()
        self.is_deaf = True

    @asynccontextmanager
    async def _running(self) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as tasks:
            self._task = tasks.create_task(self.controller.run())
            await self.join()
            try:
                yield
            finally:
                self._task.cancel()

    def kill(self) -> None:
        """End as SIGKILL ends a process."""
        self.is_deaf = True
        self._task.cancel()


class Sharing:
    """A cluster, and controllers that come and go."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self.cluster = FakeCluster(NODES, PODS, LEASES)
        self._stack = stack

    def nodes(self, number: int) -> None:
        for index in range(number):
            self.cluster.put(NODES, node(f"n{index:04}", ready=True))

    async def join(self, name: str, **more: Any) -> Member:
        return await self._stack.enter_async_context(Member(self.cluster, name, **more).running())

    def held(self) -> Counter[str]:
        """Count the nodes of each holder."""
        return Counter(lease["spec"]["holderIdentity"] for lease in leases(self.cluster))

    def holders(self) -> dict[str, str]:
        return {
            lease["metadata"]["name"]: lease["spec"]["holderIdentity"]
            for lease in leases(self.cluster)
        }

    def transitions(self) -> Counter[int]:
        return Counter(lease["spec"]["leaseTransitions"] for lease in leases(self.cluster))


def leases(cluster: FakeCluster) -> list[dict[str, Any]]:
    """Return the leases of nodes."""
    return [
        body
        for (plural, namespace, name), body in cluster.objects.items()
        if (plural, namespace) == (LEASES.plural, NODE_LEASES) and not name.startswith("kwokctl-")
    ]


def story(test: Callable[[Sharing], Coroutine[Any, Any, None]]) -> None:
    async def whole() -> None:
        async with AsyncExitStack() as stack:
            await test(Sharing(stack))

    run(whole())
