"""A keeper of node leases on a cluster in memory, in virtual time."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import orjson

from kwokctl.controller.controller_context import ControllerContext, controller_metrics
from kwokctl.controller.known_faults.fault_clock import FaultClock
from kwokctl.controller.known_faults.open_faults import OpenFaults
from kwokctl.controller.leases.keeper import LeaseKeeper
from kwokctl.controller.leases.sharing import Sharing
from kwokctl.controller.nodes.node_registry import Hold
from kwokctl.controller.scheduling.delay_queue import DelayQueue
from kwokctl.dataplane.leases.decode import read_lease
from kwokctl.dataplane.leases.encode import micro_time
from kwokctl.errors import ApiError
from kwokctl.kube.resource import LEASES, NODE_LEASES
from tests.support.fake_cluster import FakeCluster
from tests.support.virtual_time import run

BUSY = ApiError("busy", status=503)
DURATION = 40


class Rig:
    """A keeper on a cluster in memory; the time of day is the loop's."""

    def __init__(
        self,
        cluster: FakeCluster | None = None,
        *,
        holder: str = "me_1",
        duration: int = DURATION,
        sharing: Sharing | None = None,
    ) -> None:
        self.cluster = cluster or FakeCluster(LEASES)
        self.delay_queue = DelayQueue()
        self.changes: list[tuple[str, Hold]] = []
        context = ControllerContext(
            plane=self.cluster,
            reader=self.cluster,
            delay_queue=self.delay_queue,
            metrics=controller_metrics(),
            random=Random(1),
            wall=lambda: 1_767_268_800.0 + asyncio.get_running_loop().time(),
            faults=OpenFaults(
                FaultClock(lambda: 1_767_268_800.0 + asyncio.get_running_loop().time())
            ),
        )
        self.metrics = context.metrics
        self.keeper = LeaseKeeper(
            context,
            lambda node, hold: self.changes.append((node, hold)),
            holder=holder,
            duration=duration,
            sharing=sharing,
        )

    def spec(self, node: str = "n") -> dict[str, Any]:
        spec: dict[str, Any] = self.cluster.object(LEASES, node, NODE_LEASES)["spec"]
        return spec

    def foreign(
        self, *, age: float, duration: int = DURATION, holder: str = "other_2", name: str = "n"
    ) -> None:
        """Let another controller hold the lease, renewed `age` seconds ago."""
        now = 1_767_268_800.0 + asyncio.get_running_loop().time()
        self.cluster.put(
            LEASES,
            {
                "metadata": {"name": name, "namespace": NODE_LEASES},
                "spec": {
                    "holderIdentity": holder,
                    "leaseDurationSeconds": duration,
                    "renewTime": micro_time(now - age),
                    "leaseTransitions": 0,
                },
            },
        )

    def raw(self) -> list[Any]:
        return [read_lease(orjson.dumps(body)) for body in self.cluster.objects.values()]

    @asynccontextmanager
    async def running(self) -> Any:
        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task(self.keeper.run())
            try:
                yield
            finally:
                task.cancel()
                self.delay_queue.close()


def story(test: Callable[[Rig], Coroutine[Any, Any, None]]) -> None:
    async def whole() -> None:
        rig = Rig()
        async with rig.running():
            await test(rig)

    run(whole())
