"""Plays one schedule: makes the Fault of each planned fault when its time has come, or counts it as suppressed.

Faults are decided one after the other in the order of the plan, so one number says how far the schedule is. What was decided is never
decided again: a Fault has a name that follows from its number, so one that was made before a controller was killed is found.
"""

import asyncio
import logging
from contextlib import suppress

import msgspec

from kwokctl.controller.faults.storms.stored_plan import StoredPlan
from kwokctl.controller.faults.storms.storm_decisions import StormDecisions
from kwokctl.controller.faults.storms.storm_parts import StormParts
from kwokctl.controller.faults.storms.storm_progress import StormProgress, stored_progress
from kwokctl.controller.known_faults.fault_clock import LONGEST
from kwokctl.controller.status_writes import LackingFieldError
from kwokctl.controller.write_errors import ErrorKind, error_kind, wait_after
from kwokctl.errors import KwokctlError, RequestError
from kwokctl.expr.duration import format_time, parse_duration, parse_time
from kwokctl.faults.objects.unit_rows import LATE
from kwokctl.faults.storms.plan_pages import SuppressedFault
from kwokctl.faults.storms.stored_schedule import (
    OVER,
    SchedulePhase,
    ScheduleStatus,
    StoredSchedule,
)
from kwokctl.faults.storms.storm_plan import PlannedFault
from kwokctl.replacing import replace

log = logging.getLogger(__name__)

_POST = 2.0
"""Seconds between two looks whether this controller is the leader."""
_PLAN = 10.0
"""Seconds after which a schedule without a plan says what it waits for: the command stores the plan within that time."""
_MISSING = 30.0
"""Seconds between two looks for a page that is missing."""
_STORE = 1.0
"""Seconds between two writes of how far a schedule is."""
_RETRY = 2.0
"""The most seconds between two tries of what a cluster did not answer: a storm that is late is another storm."""
_SOONEST = 0.001
"""The least seconds until the next look: the time of day has no finer steps than a part of that."""
_REST = 5.0
"""Seconds until a schedule that was put back goes on: its Faults are put back, and deleted, beside it. A rewind that takes longer puts it
back once more, because it says first that it goes on."""


class StormPlayer:
    """Plays one schedule, while this controller is the leader."""

    def __init__(self, stored: StoredSchedule, parts: StormParts) -> None:
        """Play a schedule from where it is."""
        self._stored = stored
        self._parts = parts
        self._faults = parts.context.faults
        self._plan: StoredPlan | None = None
        self._progress: StormProgress | None = None
        self._decisions = StormDecisions(parts)
        self._known = {_place(stored.status)}
        """The places in the plan that the cluster knows, or is about to know."""
        self._written = float("-inf")
        """The time at which that was stored, on the clock of the loop."""
        self._told = stored.status.late
        """The number of late Faults that the log tells of."""
        self._rests_until = float("-inf")
        """The time until which nothing is decided, on the clock of the loop."""
        self._is_back = False
        """Whether it was put back, and has not gone on since."""
        self._tries = 0
        self._problem = ""
        """Why it cannot be played, as it was said last."""
        self._wake = asyncio.Event()

    def note(self, stored: StoredSchedule) -> None:
        """Note the schedule as it is now; one that was put back is played from where it is."""
        if int(stored.metadata.resource_version) <= int(self._stored.metadata.resource_version):
            return
        self._stored = stored
        if (place := _place(stored.status)) not in self._known:
            self._go_back()
            self._known = {place}
        self.wake()

    def note_gone(self, uid: str) -> None:
        """Note that a Fault is gone.

        A rewind that deletes one which the stored status does not count yet leaves that status as it is: nothing else tells.
        """
        name = self._decisions.uncounted.get(uid)
        if name is not None and self._progress is not None:
            log.warning(
                "schedule %r: the Fault %r was deleted within a second, as a rewind does; it is made again",
                self._stored.metadata.name, name,
            )  # fmt: skip
            self._go_back()
            self.wake()

    def wake(self) -> None:
        """Look what is due: the schedule or the clock has changed."""
        self._wake.set()

    async def run(self) -> None:
        """Play until cancelled."""
        while True:
            self._wake.clear()
            try:
                wait = await self._play()
                self._tries = 0
            except RequestError as e:
                wait = await self._put_off(e)
            except (
                Exception
            ) as e:  # one schedule must not end the others, and all fake nodes with them
                await self._give_up(e)
                wait = None
            try:
                async with asyncio.timeout(wait):
                    await self._wake.wait()
            except TimeoutError:
                continue

    async def _put_off(self, error: RequestError) -> float:
        """Return the seconds until the next try."""
        kind = error_kind(error)
        name = self._stored.metadata.name
        if kind is ErrorKind.CONFLICT:
            await self._read_again()
        self._tries += 1
        if self._tries == 1 and not self._parts.context.rights.is_known(error):
            hint = f"; {error.hint}" if error.hint else ""
            log.warning("schedule %r: %s; trying again%s", name, error, hint)
        if isinstance(error, LackingFieldError):
            return wait_after(kind, self._tries, self._parts.context.random)
        return min(wait_after(kind, self._tries, self._parts.context.random), _RETRY)

    async def _give_up(self, error: Exception) -> None:
        """Say once why a schedule, or its plan, cannot be read, and wait until it changes."""
        self._forget()
        message = f"it cannot be played: {error}"
        if message == self._problem:
            return
        self._problem = message
        is_known = isinstance(error, KwokctlError | msgspec.MsgspecError | ValueError)
        log.warning(
            "schedule %r: %s",
            self._stored.metadata.name,
            message,
            exc_info=None if is_known else error,
        )
        with suppress(RequestError):
            await self._put(replace(self._stored.status, message=message))

    async def _read_again(self) -> None:
        try:
            found = await self._parts.objects.schedule(self._stored.metadata.name)
        except RequestError:
            return
        if found is not None and found.metadata.uid == self._stored.metadata.uid:
            self.note(found)

    def _go_back(self) -> None:
        """Go on from what the cluster has stored, after a rest."""
        if self._progress is not None:
            self._rests_until = asyncio.get_running_loop().time() + _REST
            self._is_back = True
        self._forget()

    def _forget(self) -> None:
        self._progress = self._plan = None

    async def _play(self) -> float | None:
        """Do what is due; return the seconds until more is, None if nothing is to come."""
        status, spec = self._stored.status, self._stored.spec
        if status.phase in OVER:
            return None
        if not self._parts.is_mine():
            self._forget()
            return _POST
        if (rest := self._rests_until - asyncio.get_running_loop().time()) > 0:
            return rest
        if spec.stop:
            await self._end("Stopped")
            return None
        if status.planned is None:
            return await self._wait_for_plan()
        if status.start is None:
            await self._begin()
        elif self._is_back:
            # Before any Fault: what a rewind deletes of those to come, it deletes together with this.
            await self._put(replace(status, resumed=status.resumed + 1))
            self._is_back = False
        return await self._play_due()

    async def _wait_for_plan(self) -> float:
        meta, status = self._stored.metadata, self._stored.status
        age = self._parts.context.wall() - parse_time(meta.creation_timestamp)
        if age > _PLAN and not status.message:
            message = "it has no plan: clear it, and start it with 'kwokctl fault run', which stores the plan"
            await self._put(replace(status, message=message))
        return _POST

    async def _begin(self) -> None:
        await self._parts.clock.renew()
        now = format_time(self._parts.context.wall(), nanos=True)
        started = replace(
            self._stored.status,
            phase="Running",
            start=self._faults.clock.now(),
            started_at=now,
            message="",
        )
        await self._put(started)

    async def _play_due(self) -> float | None:
        progress, plan = await self._adopted()
        planned, late = self._stored.status.planned or 0, 0.0
        while progress.next < planned:
            fault = await plan.fault(progress.next)
            if fault is None:
                return await self._miss_page()
            late = self._late(fault.at)
            if late > LONGEST:  # unless the time of day was set forwards
                self._faults.clock.run()
                late = self._late(fault.at)
            if late < 0:
                break
            await self._decide(progress, fault, late)
            if progress.is_page_full or self._since_written() >= _STORE:
                await self._store(progress)
            if self._progress is not progress or self._stored.spec.stop:
                return 0.0
        else:
            late = self._late(parse_duration(self._stored.spec.horizon))
            if late >= 0:
                await self._end("Completed")
                return None
        wait = -late
        if progress.is_new:
            if (pause := _STORE - self._since_written()) > 0:
                return max(min(wait, pause), _SOONEST)
            await self._store(progress)
        return max(wait, _SOONEST)

    def _late(self, at: float) -> float:
        """Return how many seconds ago it was a time on the clock of the schedule; negative for one to come."""
        start = self._stored.status.start or 0.0
        return self._faults.clock.now() - start - at / self._stored.spec.time_scale

    async def _adopted(self) -> tuple[StormProgress, StoredPlan]:
        """Return how far the schedule is, and its plan; both are read if this controller does not know them."""
        if self._progress is None or self._plan is None:
            stored = self._stored
            meta, status = stored.metadata, stored.status
            await self._parts.clock.read()
            progress = await stored_progress(self._parts.objects, meta, status)
            await self._decisions.begin(stored)
            if self._stored is stored:
                self._known = {_place(status)}
                self._progress = progress
                self._plan = StoredPlan(self._parts.objects, meta, status.pages)
                return self._progress, self._plan
            return await self._adopted()
        return self._progress, self._plan

    async def _miss_page(self) -> float:
        message = "a page of its plan is missing: clear it, and run it again"
        self._forget()
        if self._stored.status.message != message:
            await self._put(replace(self._stored.status, message=message))
        return _MISSING

    async def _decide(self, progress: StormProgress, fault: PlannedFault, late: float) -> None:
        """Make the next fault, or suppress it."""
        number = progress.next
        if (decided := progress.decided(number)) is not None:
            progress.suppress(decided)
            return
        decision = await self._decisions.decide(self._stored, number, fault, late)
        if self._progress is not progress:  # it was put back meanwhile
            return
        if isinstance(decision, SuppressedFault):
            progress.suppress(decision)
        else:
            progress.inject(decision)

    def _since_written(self) -> float:
        return asyncio.get_running_loop().time() - self._written

    async def _store(self, progress: StormProgress) -> None:
        """Store how far the schedule is: the suppressed faults first, because the status counts them. Nothing if it was put back meanwhile."""
        if self._progress is progress:
            await progress.store_page(self._parts.objects, self._stored.metadata)
        if self._progress is not progress:
            return
        await self._put(progress.status(self._stored.status))
        progress.is_new = False
        self._tell()

    async def _end(self, phase: SchedulePhase) -> None:
        status = self._stored.status
        if self._progress is not None:
            await self._progress.store_page(self._parts.objects, self._stored.metadata)
            status = self._progress.status(status)
        at = format_time(self._parts.context.wall(), nanos=True)
        await self._put(replace(status, phase=phase, ended_at=at, message=""))
        self._tell()

    async def _put(self, status: ScheduleStatus) -> None:
        self._known.add(_place(status))
        stored = await self._parts.objects.put_status(self._stored, status)
        self._known = {_place(status)}
        self._decisions.uncounted.clear()
        self._written = asyncio.get_running_loop().time()
        self.note(stored)

    def _tell(self) -> None:
        """Say in the log that Faults came late."""
        status = self._stored.status
        if status.late > self._told:
            log.warning(
                "schedule %r: Faults that came more than %g s late: %d, the latest by %.1f s",
                self._stored.metadata.name, LATE, status.late - self._told, status.latest,
            )  # fmt: skip
        self._told = status.late


def _place(status: ScheduleStatus) -> tuple[int, int]:
    """Return where in its plan a schedule is; one that was put back is elsewhere."""
    return status.resumed, status.next
