"""The faults of a cluster: followed, injected, and reported."""

import asyncio
from collections.abc import Callable

from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.faults.clock_keeper import ClockKeeper
from kwokctl.controller.faults.fault_keeper import FaultKeeper
from kwokctl.controller.faults.fault_objects import FaultObjects
from kwokctl.controller.faults.fault_watch import FaultWatch
from kwokctl.controller.faults.foreign_nodes import ForeignNodes
from kwokctl.controller.faults.storms.nodes_in_repair import Repairs
from kwokctl.controller.faults.storms.storm_keeper import StormKeeper
from kwokctl.controller.nodes.node_registry import NodeRegistry
from kwokctl.kube.client import Client
from kwokctl.kube.resource import Resource


class ClusterFaults:
    """Follows the Faults of a cluster, and injects those that are due."""

    def __init__(
        self,
        client: Client,
        context: ControllerContext,
        nodes: NodeRegistry,
        is_mine: Callable[[], bool],
        repairs: Repairs,
        seen: Callable[[Resource, int], None],
    ) -> None:
        """Hit `nodes`; `is_mine` says whether this controller is the one of several that injects.

        `seen` gets the versions to which the watch of Faults has come.
        """
        clock = ClockKeeper(client, context.faults.clock, context.wall)
        self._faults = context.faults
        may_play = self._may_play(is_mine, repairs)
        self._storms = StormKeeper(client, context, nodes, clock, may_play, repairs)
        schedules = self._storms.known
        self._watch = FaultWatch(
            client, context.faults, schedules, clock.read, context.random, seen
        )
        self._keeper = FaultKeeper(
            context, nodes, FaultObjects(client), clock, is_mine, lambda: schedules.are_running
        )
        self._foreign = ForeignNodes(context, nodes, is_mine)

    def _may_play(self, is_mine: Callable[[], bool], repairs: Repairs) -> Callable[[], bool]:
        """Return what says whether this controller may play schedules: what is open or in repair must be known before."""
        return lambda: is_mine() and self.is_known and repairs.is_known

    @property
    def is_known(self) -> bool:
        """Whether all are known, or the cluster has turned out to have none."""
        return self._watch.is_known

    @property
    def follow(self) -> bool:
        """Whether some are open that hit nodes which come later."""
        return bool(self._faults.followers())

    async def known(self) -> None:
        """Wait until all are known, or the cluster has turned out to have none."""
        await self._watch.known()

    async def run(self) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._watch.run())
            tasks.create_task(self._keeper.run())
            tasks.create_task(self._storms.run())
            tasks.create_task(self._foreign.run())
