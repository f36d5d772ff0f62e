"""Keeps the repairs of the cluster going: makes those that are asked for, gives out slots, and takes each to its end.

One of several controllers does it, the one that also injects faults. Everything that it must remember is stored in the Repairs.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from random import Random

from kwokctl.controller.known_faults.open_faults import OpenFaults
from kwokctl.controller.repairs.known_repairs import KnownRepairs
from kwokctl.controller.repairs.repair_objects import RepairObjects, shown_repair
from kwokctl.controller.repairs.repair_steps import RepairSteps
from kwokctl.controller.repairs.sleepers import Sleepers
from kwokctl.controller.repairs.triggering import Triggering
from kwokctl.controller.write_errors import ErrorKind, RightsLog, error_kind, wait_after
from kwokctl.errors import KwokctlError, RequestError
from kwokctl.faults.objects.fault_schema import OwnerReference
from kwokctl.faults.repairs.policies import policy_for, startable
from kwokctl.faults.repairs.repair_schema import StoredRepair
from kwokctl.tasks import for_each

log = logging.getLogger(__name__)

_AT_ONCE = 8
_GATHER = 0.05
"""Seconds in which changes are gathered before a round."""
_POST = 2.0
"""Seconds between looks whether this controller is the leader."""
_SLEEPERS = 2.0
"""Seconds between looks whether what is asleep is used."""


class RepairKeeper:
    """The repairs, while this controller is the leader."""

    def __init__(  # noqa: PLR0913 - they are its parts
        self,
        known: KnownRepairs,
        objects: RepairObjects,
        steps: RepairSteps,
        triggering: Triggering,
        faults: OpenFaults,
        is_mine: Callable[[], bool],
        *,
        random: Random,
        rights: RightsLog,
    ) -> None:
        """Follow what is `known`; `is_mine` says whether this controller is the leader."""
        self._known = known
        self._objects = objects
        self._steps = steps
        self._triggering = triggering
        self._faults = faults
        self._sleepers = Sleepers(faults, objects)
        self._is_mine = is_mine
        self._random = random
        self._rights = rights
        self._woken = asyncio.Event()
        self._tries: dict[str, int] = {}
        self._shown: set[str] = set()
        """The uids of the Faults that nodes show for Repairs."""
        faults.attend(self._noted)
        faults.listen(self._units_changed)

    def wake(self) -> None:
        """Look at everything soon."""
        self._woken.set()

    async def run(self) -> None:
        """Work until cancelled."""
        while True:
            wait = await self._round()
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._woken.wait()
            await asyncio.sleep(_GATHER)
            self._woken.clear()

    def _noted(self, uid: str) -> None:
        """Look again when a Fault has changed, if that may end a repair, or something is asleep."""
        fault = self._faults.faults.get(uid)
        if fault is not None and shown_repair(fault.metadata) is not None:
            self._shown.add(uid)
        if uid in self._shown or any(True for _ in self._known.open()) or self._has_sleepers:
            self.wake()

    def _units_changed(self, _: Mapping[str, str]) -> None:
        """Look again when units have changed: only then it is known of those of the Fault whether some are asleep."""
        self._noted("")

    @property
    def _has_sleepers(self) -> bool:
        """Whether units are asleep: they wake also when their repairs were deleted."""
        return any(True for _ in self._faults.asleep())

    async def _round(self) -> float | None:
        """Do what is due; return the seconds until more is, None if nothing is to come."""
        if not (len(self._known) or self._has_sleepers or any(self._left_over())):
            return None
        if not self._is_mine():
            self._triggering.leave()
            self._faults.endings.clear()  # what another controller stores is not to be overwritten later
            return _POST
        waits: list[float] = []

        async def tried(key: str, work: Awaitable[float | None]) -> None:
            if (wait := await self._tried(key, work)) is not None:
                waits.append(max(wait, 0.0))

        await tried("policies", self._say_problems())
        await tried("triggers", self._triggering.look())
        await tried("sleepers", self._wake_sleepers())
        await tried("what nodes show", self._hide_left_over())

        async def step(repair: StoredRepair) -> None:
            await tried(repair.name, self._step(repair))

        steps = [each for each in self._known.open() if each.status.phase != "Queued"]
        await for_each(steps, step, at_once=_AT_ONCE)
        for repair in startable(self._known.all, self._known.policies):
            await tried(repair.name, self._begin(repair))
        return min(waits, default=None)

    async def _step(self, repair: StoredRepair) -> float | None:
        if repair.status.phase == "Running":
            return await self._steps.go_on(repair)
        return await self._steps.accept(repair, await self._policy_of(repair))

    async def _begin(self, repair: StoredRepair) -> float:
        await self._steps.begin(repair)
        return 0.0

    async def _policy_of(self, repair: StoredRepair) -> str:
        """Return the policy of a repair: the one that it names, or the first by name that is for its node."""
        if repair.spec.policy:
            return repair.spec.policy
        fitting = [
            name
            for name in self._known.policies
            if await self._triggering.fits(name, repair.spec.node)
        ]
        return policy_for(repair, self._known.policies, fitting)

    async def _say_problems(self) -> None:
        """Store why policies cannot be used, where they do not say it yet."""
        for name, stored in tuple(self._known.stored_policies().items()):
            problem = self._known.problems.get(name, "")
            if problem != stored.status.message:
                await self._objects.say(name, problem)

    async def _wake_sleepers(self) -> float | None:
        return _SLEEPERS if await self._sleepers.look() else None

    def _left_over(self) -> Iterator[tuple[str, OwnerReference]]:
        """Yield the names of the Faults that nodes show for Repairs which are not known, with these."""
        known = {each.metadata.uid for each in self._known.all}
        self._shown &= self._faults.faults.keys()
        for fault in [self._faults.faults[uid] for uid in self._shown]:
            repair = shown_repair(fault.metadata)
            if repair is not None and repair.uid not in known:
                yield fault.metadata.name, repair

    async def _hide_left_over(self) -> None:
        """End what nodes show for Repairs that were deleted; the controller-manager does it as well, where there is one."""
        for name, repair in tuple(self._left_over()):
            if not await self._objects.exists(repair.name, repair.uid):  # the watch may be behind
                await self._objects.hide(name)

    async def _tried(self, key: str, work: Awaitable[float | None]) -> float | None:
        """Do some work; return the seconds until it is to be done again, also where it has failed."""
        try:
            wait = await work
        except Exception as e:  # one repair must not end the others, and all fake nodes with them
            kind = error_kind(e) if isinstance(e, RequestError) else ErrorKind.LASTING
            tries = self._tries[key] = self._tries.get(key, 0) + 1
            if kind.is_lasting and tries == 1 and not _is_known(self._rights, e):
                hint = f"; {e.hint}" if isinstance(e, KwokctlError) and e.hint else ""
                trace = None if isinstance(e, KwokctlError) else e
                log.warning("repair %r: %s; trying again%s", key, e, hint, exc_info=trace)
            return wait_after(kind, tries, self._random) or _GATHER
        self._tries.pop(key, None)
        return wait


def _is_known(rights: RightsLog, error: Exception) -> bool:
    return isinstance(error, RequestError) and rights.is_known(error)
