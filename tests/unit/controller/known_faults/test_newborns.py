"""New nodes wait for what a fault that follows does to them."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from kwokctl.controller.known_faults.fault_clock import FaultClock
from kwokctl.controller.known_faults.newborns import LONGEST, Newborns
from kwokctl.controller.known_faults.open_faults import OpenFaults
from kwokctl.controller.scheduling.delay_queue import DelayQueue
from kwokctl.expr.duration import format_time
from kwokctl.faults.classes.catalogue import FaultCatalogue
from kwokctl.faults.objects.fault_schema import (
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
from kwokctl.json_value import Json
from tests.support import virtual_time
from tests.support.faults import NOON

BEFORE, AFTER = format_time(NOON - 60), format_time(NOON + 60)
DEFINITION = definition_of(FaultCatalogue(), "not-ready", ())
PAGE = definition_name(DEFINITION)


class Rig:
    """The nodes that wait, and those that were told that they need not."""

    def __init__(self) -> None:
        self.delay_queue = DelayQueue()
        self.now = NOON + 60
        self.faults = OpenFaults(FaultClock(lambda: self.now))
        self.newborns = Newborns(self.faults, self.delay_queue)
        self.woken: list[str] = []
        self.newborns.listen(self.woken.append)

    def define(self) -> None:
        spec = FaultPageSpec(definition=DEFINITION)
        self.faults.note_page(StoredPage(metadata=ObjectMeta(name=PAGE), spec=spec))

    def follow(self, *hit: str, phase: Any = "Landed", **target: Any) -> None:
        rows = [row_text(UnitRow(unit=FaultUnit(node=n, node_uid=f"uid-{n}"))) for n in hit]
        self.faults.note(
            StoredFault(
                metadata=ObjectMeta(name="storm", uid="u"),
                spec=FaultSpec(
                    class_name="not-ready", target=FaultTarget(**{"follow": True, **target})
                ),
                status=FaultStatus(
                    phase=phase, clock=NOON, injected_at=format_time(NOON), definition=PAGE,
                    rows=tuple(rows),
                ),
            )
        )  # fmt: skip

    def waits(self, name: str = "n", created: str = AFTER) -> bool:
        node: dict[str, Json] = {"metadata": {"name": name, "uid": f"uid-{name}", "labels": {}}}
        return self.newborns.waits(name, f"uid-{name}", created, lambda: node)


def run(test: Coroutine[Any, Any, None]) -> None:
    virtual_time.run(test)


def test_a_new_node_waits_until_its_unit_is_known() -> None:
    async def whole() -> None:
        rig = Rig()
        rig.define()
        rig.follow()
        assert rig.waits()

        rig.woken.clear()
        rig.follow("n")

        assert "n" in rig.woken
        assert not rig.waits()

    run(whole())


def test_a_new_node_waits_until_its_kubelet_reports_the_fault() -> None:
    async def whole() -> None:
        rig = Rig()
        rig.define()
        rig.follow("n")
        rig.now = NOON + 0.01
        assert rig.waits()
        rig.woken.clear()

        rig.now = NOON + 10
        await asyncio.sleep(10)

        assert "n" in rig.woken
        assert not rig.waits()

    run(whole())


def test_nodes_that_are_not_hit_do_not_wait() -> None:
    async def whole() -> None:
        rig = Rig()
        rig.define()
        assert not rig.waits()
        rig.follow(nodes=("n",))
        assert not rig.waits("other")
        assert not rig.waits(created=BEFORE)
        rig = Rig()
        rig.define()
        rig.follow(follow=False)
        assert not rig.waits()

    run(whole())


def test_nodes_wait_for_the_definition() -> None:
    async def whole() -> None:
        rig = Rig()
        rig.follow(nodes=("n",))
        assert rig.waits("other")
        rig.define()
        assert not rig.waits("other")

    run(whole())


def test_a_fault_with_all_its_units_hits_no_more() -> None:
    async def whole() -> None:
        rig = Rig()
        rig.define()
        rig.follow("a", count=2)
        assert rig.waits()
        rig.follow("a", "b", count=2)
        assert "n" in rig.woken
        assert not rig.waits()

    run(whole())


def test_a_fault_that_is_over_lets_its_nodes_go() -> None:
    async def whole() -> None:
        rig = Rig()
        rig.define()
        rig.follow()
        assert rig.waits()
        rig.faults.drop("u")
        assert "n" in rig.woken
        assert not rig.waits()

    run(whole())


def test_a_node_is_played_if_nobody_says_what_hits_it() -> None:
    async def whole() -> None:
        rig = Rig()
        rig.define()
        rig.follow()
        assert rig.waits()
        rig.woken.clear()
        await asyncio.sleep(LONGEST - 1)
        assert rig.woken == []
        await asyncio.sleep(2)
        assert rig.woken == ["n"]
        assert not rig.waits()

    run(whole())
