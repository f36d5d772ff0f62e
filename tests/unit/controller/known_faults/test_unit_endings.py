"""Repairs that end a fault on one node: its units there come to an end, and no others."""

from kwokctl.controller.faults.landing import Landing
from kwokctl.controller.known_faults.fault_clock import FaultClock
from kwokctl.controller.known_faults.open_faults import OpenFaults
from kwokctl.controller.known_faults.unit_endings import UnitEnding, stored
from kwokctl.controller.nodes.node_registry import NodeRegistry
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
from kwokctl.faults.objects.fault_status import is_repaired, reported
from kwokctl.faults.objects.row_pages import IN_STATUS
from kwokctl.faults.objects.unit_rows import FaultUnit, UnitRow, row_text
from kwokctl.faults.overlays.definitions import definition_name, definition_of
from kwokctl.replacing import replace
from tests.support.faults import NOON, node

DEFINITION = definition_of(FaultCatalogue(), "not-ready", ())
PAGE = definition_name(DEFINITION)


def unit(name: str, uid: str = "") -> FaultUnit:
    return FaultUnit(node=name, node_uid=uid or f"uid-{name}")


def fault(*rows: UnitRow) -> StoredFault:
    return StoredFault(
        metadata=ObjectMeta(name="f", uid="u"),
        spec=FaultSpec(class_name="not-ready", target=FaultTarget(percent=100)),
        status=FaultStatus(
            phase="Landed", clock=NOON, definition=PAGE, rows=tuple(map(row_text, rows))
        ),
    )


class Rig:
    """A fault of two nodes."""

    def __init__(self) -> None:
        self.faults = OpenFaults(FaultClock(lambda: NOON + 30))
        spec = FaultPageSpec(definition=DEFINITION)
        self.faults.note_page(StoredPage(metadata=ObjectMeta(name=PAGE), spec=spec))
        self.faults.note(fault(*(UnitRow(unit=unit(each), landed=0.1) for each in ("n-0", "n-1"))))
        self.told: list[str] = []
        self.faults.listen(lambda nodes: self.told.extend(nodes.values()))

    def store(self) -> list[UnitRow]:
        """Store the rows as they are reported, as the leader of the controllers does."""
        landing = Landing(self.faults, NodeRegistry(), self.faults.clock.now)
        rows = [*landing.rows("u")[IN_STATUS]]
        rows += self.faults.endings.added("u", rows)
        self.faults.note(fault(*rows))
        return rows

    def shown(self, name: str, uid: str = "") -> int:
        value = {**node(), "metadata": {"name": name, "uid": uid or f"uid-{name}"}}
        return len(self.faults.shown(value).open)


def test_a_repair_ends_a_fault_on_one_node_only() -> None:
    rig, ending = Rig(), UnitEnding(at=NOON + 12)
    rig.faults.end("u", "uid-n-0", ending)
    assert not stored(rig.faults.units("u"), "uid-n-0", ending)

    rows = rig.store()

    assert [row.ended for row in rows] == [12.0, None]
    assert (rig.shown("n-0"), rig.shown("n-1")) == (0, 1)
    assert rig.told == ["n-0"]
    assert stored(rig.faults.units("u"), "uid-n-0", ending)
    assert not rig.faults.has("uid-n-0")


def test_what_is_asleep_is_not_shown_until_it_wakes() -> None:
    rig = Rig()
    rig.faults.end("u", "uid-n-0", UnitEnding(at=NOON + 12, asleep=True))
    rig.store()
    assert rig.shown("n-0") == 0
    assert [row.unit.node for _, row in rig.faults.asleep()] == ["n-0"]

    rig.faults.end("u", "uid-n-0", UnitEnding())
    rows = rig.store()

    assert rig.shown("n-0") == 1
    assert rows[0].landed is None, "it has to be shown again"
    assert [*rig.faults.asleep()] == []


def test_a_fault_moves_to_the_node_that_took_the_place_of_another_once() -> None:
    rig, ending = Rig(), UnitEnding(moved_to="new")
    rig.faults.end("u", "uid-n-0", ending)
    rig.store()
    rows = rig.store()
    assert [row.unit.node_uid for row in rows] == ["uid-n-0", "uid-n-1", "new"]
    assert rig.shown("n-0", "new") == 1
    assert stored(rig.faults.units("u"), "uid-n-0", ending)


def test_a_fault_is_over_when_all_its_units_are_repaired() -> None:
    rows = [UnitRow(unit=unit(each), landed=0.1, ended=3.0) for each in ("n-0", "n-1")]
    assert is_repaired(rows)
    assert not is_repaired([rows[0], replace(rows[1], asleep=True)])
    assert not is_repaired([rows[0], replace(rows[1], ended=None)])
    assert not is_repaired([])


def test_units_that_are_repaired_are_counted_apart() -> None:
    rows = [
        UnitRow(unit=unit("n-0"), landed=0.1, ended=3.0),
        UnitRow(unit=unit("n-1"), landed=0.1),
    ]
    status = reported(FaultStatus(clock=NOON), {IN_STATUS: rows}, at="", left=None)
    assert (status.phase, status.units, status.landed, status.repaired) == ("Landed", 2, 1, 1)
