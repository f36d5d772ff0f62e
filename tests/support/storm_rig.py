"""A schedule that players play on a cluster in memory, where requests fail and controllers are killed; time is that of the loop."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, cast

import msgspec

from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.faults.clock_keeper import ClockKeeper
from kwokctl.controller.faults.storms.hit_nodes import HitNodes
from kwokctl.controller.faults.storms.nodes_in_repair import Repairs
from kwokctl.controller.faults.storms.storm_objects import StormObjects
from kwokctl.controller.faults.storms.storm_parts import StormParts
from kwokctl.controller.faults.storms.storm_player import StormPlayer
from kwokctl.controller.known_faults.fault_clock import FaultClock
from kwokctl.controller.known_faults.open_faults import OpenFaults
from kwokctl.controller.nodes.node_registry import NodeRegistry
from kwokctl.errors import ApiError
from kwokctl.faults.objects.fault_schema import (
    FaultPageSpec,
    FaultSpec,
    FaultStatus,
    ObjectMeta,
    OwnerReference,
    StoredFault,
    StoredPage,
)
from kwokctl.faults.objects.unit_rows import FaultUnit, UnitRow, row_text
from kwokctl.faults.storms.plan_pages import in_pages, plan_page, plan_rows, read_suppressed
from kwokctl.faults.storms.schedule_schema import FaultScheduleSpec
from kwokctl.faults.storms.stored_schedule import ScheduleStatus, StoredSchedule
from kwokctl.faults.storms.storm_plan import PlannedFault
from kwokctl.json_value import Json
from kwokctl.replacing import replace
from tests.support.fake_cluster import FakeCluster
from tests.support.faults import NOON

NAME, UID = "s", "12345678-uid"


class NoRepairs:
    """No node is ever in repair."""

    is_known = True

    def is_in_repair(self, node_uid: str) -> bool:
        """Return False."""
        return False


class KilledError(BaseException):
    """A controller was killed, whatever it catches."""


class StoredStorm:
    """The objects of a cluster: one schedule with its plan, its Faults and pages, and the nodes."""

    def __init__(
        self, faults: Sequence[PlannedFault], nodes: Mapping[str, str], **spec: Any
    ) -> None:
        """Begin before the start; `nodes` are the racks by the names of the nodes, `spec` the fields of the schedule."""
        self.nodes = dict(nodes)
        self.pages: dict[str, StoredPage] = {}
        self.made: dict[str, StoredFault] = {}
        self.gone: list[StoredFault] = []
        """Those that were deleted since the watch has shown something."""
        self.times: dict[str, float] = {}
        """The times of the loop at which Faults were made."""
        self.is_taken: set[str] = set()
        """The names of Faults of somebody else."""
        self.versions = 1
        first, pages = 0, [*in_pages(plan_rows(faults))]
        for number, rows in enumerate(pages):
            self.put(plan_page(NAME, UID, number), first, rows)
            first += len(rows)
        self.schedule = StoredSchedule(
            metadata=ObjectMeta(
                name=NAME, uid=UID, resource_version="1", creation_timestamp="2026-01-01T12:00:00Z"
            ),
            spec=msgspec.convert({"horizon": "1h", **spec}, FaultScheduleSpec),
            status=ScheduleStatus(planned=len(faults), pages=len(pages), nodes=len(nodes)),
        )

    def put(self, name: str, number: int, rows: Sequence[str]) -> None:
        spec = FaultPageSpec(schedule=UID, number=number, rows=tuple(rows))
        self.pages[name] = StoredPage(metadata=ObjectMeta(name=name), spec=spec)

    @property
    def reasons(self) -> dict[int, str]:
        """Return the reasons of suppressed faults by their numbers."""
        pages = (page for name, page in sorted(self.pages.items()) if "-suppressed-" in name)
        rows = [read_suppressed(row) for page in pages for row in page.spec.rows]
        found = {row.number: row.reason for row in rows}
        assert len(found) == len(rows), "a fault is suppressed twice"
        return dict(found)


class FlakyObjects(StormObjects):
    """Reads and writes a stored storm; `fails` may raise before a request, and after it was done."""

    def __init__(self, stored: StoredStorm, fails: Callable[[], None]) -> None:
        self._stored = stored
        self._fails = fails

    async def schedule(self, name: str) -> StoredSchedule | None:
        await self._request()
        return self._stored.schedule if name == NAME else None

    async def node(self, name: str) -> dict[str, Json] | None:
        await self._request()
        if name not in self._stored.nodes:
            return None
        place = f"rack={self._stored.nodes[name]}"
        meta = {"name": name, "uid": f"uid-{name}", "annotations": {"kwokctl.dev/place": place}}
        return {"metadata": meta}

    async def page(self, name: str) -> StoredPage | None:
        await self._request()
        return self._stored.pages.get(name)

    async def put_page(
        self, name: str, schedule: ObjectMeta, number: int, rows: Sequence[str]
    ) -> None:
        await self._request()
        self._stored.put(name, number, rows)
        self._fails()

    async def put_status(self, known: StoredSchedule, status: ScheduleStatus) -> StoredSchedule:
        await self._request()
        stored = self._stored
        if known.metadata.resource_version != stored.schedule.metadata.resource_version:
            raise ApiError("it has changed", status=409, reason="Conflict")
        stored.versions += 1
        meta = replace(stored.schedule.metadata, resource_version=str(stored.versions))
        stored.schedule = replace(stored.schedule, metadata=meta, status=status)
        self._fails()
        return stored.schedule

    async def make_fault(self, body: dict[str, Json], schedule: ObjectMeta) -> StoredFault | None:
        await self._request()
        meta = body["metadata"]
        name, stored = meta["name"], self._stored
        if name in stored.is_taken:
            return None
        if name not in stored.made:
            owners = msgspec.convert(meta["ownerReferences"], tuple[OwnerReference, ...])
            stored.times[name] = asyncio.get_running_loop().time()
            stored.made[name] = StoredFault(
                metadata=ObjectMeta(name=name, uid=f"uid-{name}", owner_references=owners),
                spec=msgspec.convert(body["spec"], FaultSpec),
            )
        made = stored.made[name]
        self._fails()
        return made

    async def fault(self, name: str, schedule: ObjectMeta) -> StoredFault | None:
        await self._request()
        return self._stored.made.get(name)

    async def _request(self) -> None:
        await asyncio.sleep(0.003)
        self._fails()


class _NoLease:
    async def read(self) -> None:
        """Read nothing."""

    async def renew(self) -> None:
        """Renew nothing."""


class Controller:
    """A controller that plays the stored storm, and sees what it has made."""

    def __init__(
        self,
        stored: StoredStorm,
        fails: Callable[[], None] = lambda: None,
        *,
        repairs: Repairs | None = None,
    ) -> None:
        """Begin as after a start: it knows all Faults."""
        self.stored = stored
        self.faults = OpenFaults(FaultClock(_wall))
        self.registry = NodeRegistry()
        cluster = FakeCluster()
        context = ControllerContext(
            plane=cluster, reader=cluster, random=Random(1), wall=_wall, faults=self.faults
        )
        objects = FlakyObjects(stored, fails)
        nodes = HitNodes(objects, self.registry, self.faults, repairs or NoRepairs())
        clock = cast("ClockKeeper", _NoLease())
        self._shown: dict[str, StoredFault] = {}
        """As a watch shows each change once."""
        self.has_post = True
        parts = StormParts(context, objects, nodes, clock, lambda: self.has_post)
        self.player = StormPlayer(stored.schedule, parts)
        self.faults.attend(self._noted)

    async def run(self) -> None:
        """Play until it is killed, or cancelled."""
        self._see()
        playing = asyncio.create_task(self.player.run())
        try:
            while not playing.done():
                await asyncio.sleep(0.02)
                self._see()
            await playing
        finally:
            playing.cancel()
            await asyncio.gather(playing, return_exceptions=True)

    def _noted(self, uid: str) -> None:
        if uid not in self.faults.faults:
            self.player.note_gone(uid)

    def _see(self) -> None:
        """Inject Faults that were made, and show them, those that are gone, and the schedule to this controller."""
        while self.stored.gone:
            gone = self.stored.gone.pop()
            self.faults.note(gone)
            self.faults.drop(gone.metadata.uid)
            self._shown.pop(gone.metadata.uid, None)
        for name, made in self.stored.made.items():
            fault = made
            if made.status.clock is None:
                at = fault.spec.target.nodes
                gpu = fault.spec.parameters.get("gpu")
                units = [FaultUnit(node=n, node_uid=f"uid-{n}", gpu=gpu) for n in at]
                rows = tuple(row_text(UnitRow(unit=each)) for each in units)
                status = FaultStatus(phase="Landed", clock=_wall(), rows=rows, units=len(rows))
                fault = self.stored.made[name] = replace(made, status=status)
            if self._shown.get(fault.metadata.uid) is not fault:
                self._shown[fault.metadata.uid] = fault
                self.faults.note(fault)
        self.player.note(self.stored.schedule)


async def ended(running: asyncio.Task[None]) -> None:
    """Cancel a task, and wait until it has ended."""
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


def _wall() -> float:
    return NOON + asyncio.get_running_loop().time()


async def play(stored: StoredStorm, fails: Callable[[], None] = lambda: None) -> int:
    """Play a storm to its end, with a new controller for each that is killed; return the number of controllers."""
    controllers = 0
    while stored.schedule.status.phase not in ("Completed", "Stopped"):
        controllers += 1
        running = asyncio.create_task(Controller(stored, fails).run())
        try:
            while stored.schedule.status.phase not in ("Completed", "Stopped"):
                if running.done():
                    await running
                await asyncio.sleep(0.05)
        except KilledError:
            await asyncio.sleep(0.5)  # until another is started
        finally:
            await ended(running)
    return controllers
