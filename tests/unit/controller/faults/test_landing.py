"""When a unit shows its fault, and how late its signals were."""

from collections.abc import Sequence

from kwokctl.controller.faults.landing import GONE, Landing
from kwokctl.controller.known_faults.fault_clock import FaultClock
from kwokctl.controller.known_faults.open_faults import OpenFaults
from kwokctl.controller.nodes.facts import NodeFacts
from kwokctl.controller.nodes.node_registry import ManagedNode, NodeRegistry
from kwokctl.faults.classes.catalogue import FaultCatalogue
from kwokctl.faults.objects.fault_schema import (
    ACKNOWLEDGED,
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
from kwokctl.faults.overlays.fault_course import Course
from kwokctl.faults.overlays.open_entries import OPEN_FAULTS
from kwokctl.faults.overlays.overlay import overlay
from kwokctl.faults.targets.target_selection import API_UNIT
from tests.support.faults import NOON, node

UNIT = FaultUnit(node="n-0", node_uid="uid-n-0", gpu=3)
DEFINITION = definition_of(FaultCatalogue(), "xid-79", ("eks", "device-plugin"))


class Rig:
    """A fault of GPU 3 on a node, of which each dialect shows something at a time of its own."""

    def __init__(self) -> None:
        self.now = NOON
        self.faults = OpenFaults(FaultClock(lambda: self.now))
        self.nodes = NodeRegistry()
        self.nodes.put(ManagedNode("n-0", "uid-n-0", (), ()))
        page = definition_name(DEFINITION)
        spec = FaultPageSpec(definition=DEFINITION)
        self.faults.note_page(StoredPage(metadata=ObjectMeta(name=page), spec=spec))
        self.fault = StoredFault(
            metadata=ObjectMeta(name="f", uid="u"),
            spec=FaultSpec(class_name="xid-79", target=FaultTarget(nodes=("n-0",))),
            status=FaultStatus(
                phase="Injecting", clock=NOON, definition=page, rows=(row_text(UnitRow(unit=UNIT)),)
            ),
        )
        self.faults.note(self.fault)
        self.restart()

    def restart(self) -> None:
        self.landing = Landing(self.faults, self.nodes, lambda: self.now)

    @property
    def course(self) -> Course:
        found = self.faults.course(self.fault, UNIT, 0)
        assert found is not None
        return found

    def shows(self, until: float, *, at: float) -> UnitRow:
        """Let the node show what is due until one time, and look at another; both in seconds after the start."""
        self.now = NOON + at
        shown = overlay(node(), [*self.course.at(until)], NOON)
        text = shown["metadata"]["annotations"].get(OPEN_FAULTS, "")
        registered = self.nodes.get("n-0")
        assert registered is not None
        self.nodes.describe(registered, NodeFacts(open_faults=text))
        return self.look()

    def look(self, nodes: Sequence[str] | None = None) -> UnitRow:
        self.landing.look(self.fault, nodes)
        ((row,),) = self.landing.rows("u").values()
        return row


def test_a_unit_lands_with_its_last_signal() -> None:
    rig = Rig()
    *_, before, last = rig.course.times
    assert rig.shows(before, at=before).landed is None

    row = rig.shows(last, at=last + 0.25)

    assert row == UnitRow(unit=UNIT, landed=round(last + 0.25, 3))


def test_a_signal_in_between_that_is_late_is_noted() -> None:
    rig = Rig()
    times = rig.course.times
    rig.shows(times[0], at=times[0])
    signals = sorted(time for part in rig.course.parts for time, _ in part.signals)
    first = next(time for time in signals if time > times[0])
    late = rig.shows(first, at=first + 7.5)
    assert (late.landed, late.late) == (None, 7.5)

    row = rig.shows(times[-1], at=times[-1] + 8.0 + first)

    assert row.late == round(8.0 + first, 3)
    assert row.landed == round(times[-1] + 8.0 + first, 3)


def test_a_signal_that_comes_within_a_moment_is_not_late() -> None:
    rig = Rig()
    rig.shows(0.0, at=0.0)
    rows = [rig.shows(time, at=time + 0.9) for time in rig.course.times]

    assert {row.late for row in rows} == {0.0}
    assert rows[-1].landed is not None


def test_a_controller_that_starts_does_not_know_since_when_signals_are_shown() -> None:
    rig = Rig()
    last = rig.course.times[-1]
    rig.restart()

    row = rig.shows(last, at=last + 3600.0)

    assert (row.landed, row.late) == (round(last + 3600.0, 3), 0.0)


def test_a_unit_whose_node_was_replaced_is_gone() -> None:
    rig = Rig()
    rig.nodes.put(ManagedNode("n-0", "another", (), ()))

    assert rig.look().problem == GONE


def test_a_fault_of_the_api_has_landed_when_the_proxy_says_so() -> None:
    rig = Rig()
    row = UnitRow(unit=API_UNIT)
    status = FaultStatus(
        phase="Injecting",
        clock=NOON,
        injected_at="2026-01-01T12:00:00Z",
        rows=(row_text(row),),
    )
    spec = FaultSpec(class_name="api-5xx", target=FaultTarget(api=True))
    said = {ACKNOWLEDGED: "2026-01-01T12:00:00.25Z"}

    def looked(annotations: dict[str, str] | None) -> UnitRow:
        meta = ObjectMeta(name="a", uid="api", annotations=annotations)
        fault = StoredFault(metadata=meta, spec=spec, status=status)
        rig.faults.note(fault)
        rig.landing.look(fault, ())
        ((found,),) = rig.landing.rows("api").values()
        return found

    assert looked(None) == row
    assert looked({ACKNOWLEDGED: "soon"}) == row
    assert looked(said).landed == 0.25
    assert looked({ACKNOWLEDGED: "2026-01-01T12:00:09Z"}).landed == 0.25
