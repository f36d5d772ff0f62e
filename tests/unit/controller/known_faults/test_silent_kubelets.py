"""Which kubelets are silent because of faults, and when that changes."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from kwokctl.controller.known_faults.fault_clock import FaultClock
from kwokctl.controller.known_faults.open_faults import OpenFaults
from kwokctl.controller.known_faults.silent_kubelets import SilentKubelets
from kwokctl.controller.scheduling.delay_queue import DelayQueue
from kwokctl.faults.objects.fault_schema import (
    FaultSpec,
    FaultStatus,
    FaultTarget,
    ObjectMeta,
    StoredFault,
)
from kwokctl.faults.objects.unit_rows import FaultUnit, UnitRow, row_text
from kwokctl.faults.overlays.late_kubelets import HEARD
from kwokctl.faults.overlays.open_entries import KubeletState, OpenEntry
from tests.support import virtual_time
from tests.support.faults import NOON


class Rig:
    """A node `n` that a fault hits, and the nodes that were to be looked at again."""

    def __init__(self) -> None:
        self.start = asyncio.get_running_loop().time()
        self.delay_queue = DelayQueue()
        self.faults = OpenFaults(FaultClock(self.now))
        self.silent = SilentKubelets(self.faults, self.delay_queue)
        self.woken: list[str] = []
        self.silent.listen(self.woken.append, lambda _: None)
        self.faults.note(
            StoredFault(
                metadata=ObjectMeta(name="f", uid="u"),
                spec=FaultSpec(class_name="heartbeat-late", target=FaultTarget(nodes=("n",))),
                status=FaultStatus(
                    phase="Landed",
                    clock=NOON,
                    rows=(row_text(UnitRow(unit=FaultUnit(node="n", node_uid="uid-n"))),),
                ),
            )
        )

    def now(self) -> float:
        return NOON + asyncio.get_running_loop().time() - self.start

    def is_silent(self, kubelet: KubeletState | None, *, uid: str = "u") -> bool:
        entry = OpenEntry(
            fault="f", uid=uid, class_name="c", since=NOON, kubelet=kubelet, renews_every=60.0
        )
        return self.silent.is_silent("n", "uid-n", [entry])


def run(whole: Coroutine[Any, Any, None]) -> None:
    virtual_time.run(whole)


def test_a_late_kubelet_is_heard_again_and_again() -> None:
    async def whole() -> None:
        rig = Rig()
        assert rig.is_silent("late")
        await asyncio.sleep(60 - HEARD - 1)
        assert rig.woken == []
        await asyncio.sleep(1.5)
        assert rig.woken == ["n"]
        assert not rig.is_silent("late")
        await asyncio.sleep(HEARD)
        assert rig.woken == ["n", "n"]
        assert rig.is_silent("late")

    run(whole())


def test_a_dead_kubelet_is_silent_and_one_that_answers_is_not() -> None:
    async def whole() -> None:
        rig = Rig()
        assert rig.is_silent("silent")
        assert rig.is_silent("rebooting")
        assert not rig.is_silent("not-ready")
        assert not rig.is_silent(None)

    run(whole())


def test_what_a_node_shows_of_a_fault_that_is_gone_counts_no_longer() -> None:
    async def whole() -> None:
        rig = Rig()
        assert not rig.is_silent("silent", uid="another")
        assert rig.is_silent("late")
        rig.faults.drop("u")
        assert not rig.is_silent("late")
        await asyncio.sleep(120)
        assert rig.woken == []

    run(whole())


def test_a_node_that_is_gone_is_not_looked_at_again() -> None:
    async def whole() -> None:
        rig = Rig()
        assert rig.is_silent("late")
        rig.silent.forget("n")
        await asyncio.sleep(120)
        assert rig.woken == []

    run(whole())
