"""What the leader makes up for when the cluster refuses, or when it was not the leader for a moment."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from random import Random
from typing import Any

import pytest

from kwokctl.config.config_documents import Document
from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.faults.clock_keeper import EVERY, ClockKeeper
from kwokctl.controller.faults.fault_keeper import FaultKeeper
from kwokctl.controller.faults.fault_objects import FaultObjects
from kwokctl.controller.known_faults.fault_clock import FaultClock
from kwokctl.controller.known_faults.open_faults import OpenFaults
from kwokctl.controller.nodes.facts import NodeFacts
from kwokctl.controller.nodes.node_registry import Hold, ManagedNode, NodeRegistry
from kwokctl.errors import ApiError
from kwokctl.expr.duration import format_time
from kwokctl.faults.classes.catalogue import FaultCatalogue
from kwokctl.faults.objects.fault_schema import (
    FaultDefinition,
    FaultPageSpec,
    FaultSpec,
    FaultStatus,
    FaultTarget,
    ObjectMeta,
    StoredFault,
    StoredPage,
)
from kwokctl.faults.objects.unit_rows import FaultUnit, UnitRow, row_text
from kwokctl.faults.overlays.definitions import definition_name, definition_of
from kwokctl.faults.overlays.open_entries import OPEN_FAULTS
from kwokctl.faults.overlays.overlay import overlay
from kwokctl.kube.client import Client
from kwokctl.kube.resource import NODES
from kwokctl.kube.transport.pool import Pool
from kwokctl.replacing import replace
from kwokctl.tasks import beside
from tests.support.fake_cluster import FakeCluster
from tests.support.faults import NOON, node
from tests.support.virtual_time import run

DEFINITION = definition_of(FaultCatalogue(), "xid-79", ("eks",))
PAGE = StoredPage(
    metadata=ObjectMeta(name=definition_name(DEFINITION)),
    spec=FaultPageSpec(definition=DEFINITION),
)
SLOW = 0.5
"""Seconds that a deletion takes; the watch says nothing of it."""
UNIT = FaultUnit(node="n-0", node_uid="uid-n-0", gpu=3)


class Objects(FaultObjects):
    """The Faults of a cluster that a controller sees at once."""

    def __init__(self, faults: OpenFaults) -> None:
        self._faults = faults
        self.refuse: list[ApiError] = []
        """What the next writes are answered with."""
        self.pages = {PAGE.metadata.name}
        """The names of the definitions in the cluster."""

    async def put_status(self, fault: StoredFault, status: FaultStatus) -> None:
        if self.refuse:
            raise self.refuse.pop(0)
        version = str(int(fault.metadata.resource_version) + 1)
        meta = replace(fault.metadata, resource_version=version)
        self._faults.note(StoredFault(metadata=meta, spec=fault.spec, status=status))

    async def documents_for(self, class_name: str) -> list[Document]:
        return []

    async def count_nodes(self) -> int:
        return 1

    async def put_definition(self, name: str, definition: FaultDefinition) -> None:
        self.pages.add(name)
        meta = ObjectMeta(name=name)
        self._faults.note_page(StoredPage(metadata=meta, spec=FaultPageSpec(definition=definition)))

    async def remove_page(self, name: str) -> None:
        await asyncio.sleep(SLOW)
        self.pages.discard(name)


class StillClock(ClockKeeper):
    """A clock that no other controller keeps."""

    async def read(self) -> None:
        pass

    async def renew(self) -> None:
        pass


class Rig:
    """A leader, a node, and a fault of GPU 3 on it that has begun."""

    def __init__(self, rows: Sequence[UnitRow] = (UnitRow(unit=UNIT),), **spec: Any) -> None:
        loop = asyncio.get_running_loop()

        def wall() -> float:
            return NOON + loop.time()

        self.cluster = FakeCluster(NODES)
        self.faults = OpenFaults(FaultClock(wall))
        self.is_leader = True
        context = ControllerContext(
            plane=self.cluster, reader=self.cluster, random=Random(1), wall=wall, faults=self.faults
        )
        self.nodes = NodeRegistry()
        self.objects = Objects(self.faults)
        clock = StillClock(Client(Pool.__new__(Pool)), self.faults.clock, wall)
        self.keeper = FaultKeeper(
            context, self.nodes, self.objects, clock, lambda: self.is_leader, lambda: False
        )
        self.come("n-0", created=format_time(int(NOON) - 60))
        self.faults.note(
            StoredFault(
                metadata=ObjectMeta(name="f", uid="u", resource_version="1"),
                spec=FaultSpec(class_name="xid-79", **spec),
                status=FaultStatus(
                    phase="Injecting",
                    clock=NOON,
                    injected_at=format_time(int(NOON)),
                    definition=PAGE.metadata.name,
                    units=len(rows),
                    rows=tuple(map(row_text, rows)),
                ),
            )
        )

    @property
    def status(self) -> FaultStatus:
        return self.faults.faults["u"].status

    def come(self, name: str, *, created: str) -> None:
        """Let a node come."""
        self.nodes.put(ManagedNode(name, f"uid-{name}", (), (), created=created))
        self.nodes.set_hold(name, Hold.HELD)

    def show(self) -> None:
        """Let the node show the fault."""
        course = self.faults.course(self.faults.faults["u"], UNIT, 8)
        found = self.nodes.get("n-0")
        assert course is not None
        assert found is not None
        shown = overlay(node(), [*course.at(100.0)], NOON)
        text = shown["metadata"]["annotations"][OPEN_FAULTS]
        self.nodes.describe(found, NodeFacts(open_faults=text))


def story(
    *, is_defined: bool = True, **spec: Any
) -> Callable[[Callable[[Rig], Coroutine[Any, Any, None]]], None]:
    def tell(test: Callable[[Rig], Coroutine[Any, Any, None]]) -> None:
        async def whole() -> None:
            rig = Rig(**spec)
            if is_defined:
                rig.faults.note_page(PAGE)
            async with beside(rig.keeper.run()):
                await test(rig)

        run(whole())

    return tell


def refusals(*statuses: int) -> Sequence[ApiError]:
    return [ApiError("no", status=each) for each in statuses]


def test_a_unit_lands_though_a_node_that_has_come_could_not_be_read() -> None:
    @story(target=FaultTarget(follow=True))
    async def _(rig: Rig) -> None:
        await asyncio.sleep(5)
        assert (rig.status.phase, rig.status.landed) == ("Injecting", 0)
        rig.cluster.refuse_reads += refusals(503)
        rig.come("n-1", created=format_time(int(NOON) + 5))
        rig.show()
        await asyncio.sleep(30)
        assert not rig.cluster.refuse_reads
        assert (rig.status.phase, rig.status.landed) == ("Landed", 1)


def test_a_fault_ends_that_was_to_end_while_no_controller_was_the_leader() -> None:
    @story(target=FaultTarget(nodes=("n-0",)), lasts="15s")
    async def _(rig: Rig) -> None:
        await asyncio.sleep(13)
        rig.is_leader = False
        await asyncio.sleep(4)
        rig.is_leader = True
        await asyncio.sleep(30)
        assert rig.status.phase == "Cleared"


def test_a_fault_ends_though_its_kind_was_not_served_for_a_moment() -> None:
    @story(target=FaultTarget(nodes=("n-0",)), lasts="15s")
    async def _(rig: Rig) -> None:
        await asyncio.sleep(14)
        rig.objects.refuse += refusals(404)
        await asyncio.sleep(60)
        assert not rig.objects.refuse
        assert rig.status.phase == "Cleared"


def test_a_node_is_hit_that_came_before_it_was_known_what_the_fault_shows() -> None:
    @story(target=FaultTarget(follow=True, percent=100), rows=(), is_defined=False)
    async def _(rig: Rig) -> None:
        body = node()
        body["metadata"] |= {"name": "n-1", "uid": "uid-n-1"}
        rig.cluster.put(NODES, body)
        rig.come("n-1", created=format_time(int(NOON) + 1))
        await asyncio.sleep(5)
        assert rig.status.units == 0
        rig.faults.note_page(PAGE)
        await asyncio.sleep(5)
        assert rig.status.units > 0


@pytest.mark.parametrize("after", [-0.1, 0.1, SLOW + 0.1])
def test_what_a_fault_shows_stays_though_it_came_while_that_was_removed(after: float) -> None:
    @story(target=FaultTarget(nodes=("n-0",)))
    async def _(rig: Rig) -> None:
        rig.faults.drop("u")
        # No Fault at one beat, and the definition is removed from the next one on.
        await asyncio.sleep(2 * EVERY + after)
        target = FaultTarget(follow=True, percent=100)
        spec = FaultSpec(class_name="xid-79", dialects=("eks",), target=target)
        meta = ObjectMeta(name="g", uid="v", resource_version="1")
        rig.faults.note(StoredFault(metadata=meta, spec=spec, status=FaultStatus()))
        await asyncio.sleep(EVERY)
        found = rig.faults.faults["v"]
        assert (found.status.phase, found.status.definition) == ("Landed", PAGE.metadata.name)
        assert rig.faults.definition(found) is not None
        assert rig.objects.pages == {PAGE.metadata.name}
