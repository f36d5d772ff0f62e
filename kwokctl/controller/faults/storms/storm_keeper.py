"""Keeps the schedules of the cluster: plays each, and removes what is left of those that were deleted."""

import asyncio
import logging
from collections.abc import Callable

from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.faults.clock_keeper import ClockKeeper
from kwokctl.controller.faults.storms.hit_nodes import HitNodes
from kwokctl.controller.faults.storms.known_schedules import KnownSchedules
from kwokctl.controller.faults.storms.nodes_in_repair import Repairs
from kwokctl.controller.faults.storms.storm_objects import StormObjects
from kwokctl.controller.faults.storms.storm_parts import StormParts
from kwokctl.controller.faults.storms.storm_player import StormPlayer
from kwokctl.controller.nodes.node_registry import NodeRegistry
from kwokctl.errors import RequestError
from kwokctl.faults.objects.fault_schema import OwnerReference, StoredFault
from kwokctl.faults.storms.storm_faults import owning_schedule
from kwokctl.kube.client import Client

log = logging.getLogger(__name__)

_SWEEP = 5.0
"""Seconds between looks for what deleted schedules have left; the controller-manager removes it as well, where there is one."""
_MOST_REMOVED = 500
"""Objects that are removed in one look."""


class StormKeeper:
    """Plays the schedules of the cluster, while this controller is the leader."""

    def __init__(
        self,
        client: Client,
        context: ControllerContext,
        nodes: NodeRegistry,
        clock: ClockKeeper,
        is_mine: Callable[[], bool],
        repairs: Repairs,
    ) -> None:
        """Hit `nodes`; `is_mine` says whether this controller is the leader, and knows all Faults and nodes."""
        self.known = KnownSchedules()
        self._is_mine = is_mine
        self._faults = context.faults
        self._objects = StormObjects(client)
        found = HitNodes(self._objects, nodes, context.faults, repairs)
        self._parts = StormParts(context, self._objects, found, clock, is_mine)
        self._players: dict[str, StormPlayer] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._group: asyncio.TaskGroup | None = None
        self.known.attend(self._noted)
        context.faults.attend(self._fault_noted)
        context.faults.clock.listen(self._clock_set)

    async def run(self) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            for uid in tuple(self.known.schedules):
                self._noted(uid)
            while True:
                await asyncio.sleep(_SWEEP)
                await self._sweep()

    def _noted(self, uid: str) -> None:
        schedule = self.known.schedules.get(uid)
        if schedule is None:
            self._players.pop(uid, None)
            if (task := self._tasks.pop(uid, None)) is not None:
                task.cancel()
        elif (player := self._players.get(uid)) is not None:
            player.note(schedule)
        elif self._group is not None:
            player = self._players[uid] = StormPlayer(schedule, self._parts)
            self._tasks[uid] = self._group.create_task(player.run())

    def _fault_noted(self, uid: str) -> None:
        if uid not in self._faults.faults:
            for player in self._players.values():
                player.note_gone(uid)

    def _clock_set(self) -> None:
        for player in self._players.values():
            player.wake()

    async def _sweep(self) -> None:
        """Remove the Faults and pages of schedules that do not exist any more."""
        if not (self.known.is_known and self._is_mine()):
            return
        try:
            for fault, owner in self._orphans()[:_MOST_REMOVED]:
                if not await self._exists(owner.name, owner.uid):
                    await self._objects.remove_fault(fault.metadata)
            for page in self.known.orphaned_pages[:_MOST_REMOVED]:
                if page.schedule and not await self._exists(page.schedule, page.uid):
                    await self._objects.remove_page(page.name)
        except RequestError as e:
            if not self._parts.context.rights.is_known(e):
                log.warning("faults of deleted schedules: %s; trying again", e)

    def _orphans(self) -> list[tuple[StoredFault, OwnerReference]]:
        """Return the Faults whose schedule is not known, each with that."""
        owned = ((f, owning_schedule(f.metadata)) for f in self._faults.faults.values())
        known = self.known.schedules
        return [(fault, owner) for fault, owner in owned if owner and owner.uid not in known]

    async def _exists(self, name: str, uid: str) -> bool:
        """Return whether a schedule exists: the watch may be behind, as when a cluster is put back."""
        found = await self._objects.schedule(name)
        return found is not None and found.metadata.uid == uid
