"""What a controller knows of Faults: which are open on which node, and who hears of it."""

from collections.abc import Mapping
from typing import Any

import pytest

from kwokctl.controller.known_faults.fault_clock import FaultClock
from kwokctl.controller.known_faults.open_faults import OpenFaults
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
from tests.support.faults import NOON, node

CATALOGUE = FaultCatalogue()


class Known:
    """What is known of faults, at a time that the test sets, and what listeners have heard."""

    def __init__(self) -> None:
        self.now = NOON
        self.faults = OpenFaults(FaultClock(lambda: self.now))
        self.heard: list[Mapping[str, str]] = []
        self.faults.listen(self.heard.append)

    def define(self, name: str, *dialects: str) -> str:
        """Put the page with the definition of a class, and return its name."""
        definition = definition_of(CATALOGUE, name, dialects)
        page = definition_name(definition)
        meta = ObjectMeta(name=page)
        self.faults.note_page(StoredPage(metadata=meta, spec=FaultPageSpec(definition=definition)))
        return page

    def classes(self, of: str = "n-0") -> list[str]:
        """Return the classes of what a node shows now."""
        found = {**node(), "metadata": {**node()["metadata"], "name": of, "uid": f"uid-{of}"}}
        return [each.identity.class_name for each in self.faults.shown(found).open if each.identity]

    def wait(self) -> float | None:
        found = {**node(), "metadata": {**node()["metadata"], "uid": "uid-n-0"}}
        return self.faults.shown(found).wait


def rows(*nodes: str, gpu: int | None = None) -> tuple[str, ...]:
    return tuple(
        row_text(UnitRow(unit=FaultUnit(node=each, node_uid=f"uid-{each}", gpu=gpu)))
        for each in nodes
    )


def fault(
    definition: str,
    *nodes: str,
    uid: str = "u",
    name: str = "demo",
    clock: float | None = NOON,
    phase: Any = "Injecting",
    **spec: Any,
) -> StoredFault:
    target = spec.pop("target", FaultTarget(nodes=("n-0",)))
    return StoredFault(
        metadata=ObjectMeta(name=name, uid=uid),
        spec=FaultSpec(class_name="not-ready", target=target, **spec),
        status=FaultStatus(
            phase=phase, clock=clock, definition=definition, rows=rows(*nodes), units=len(nodes)
        ),
    )


def test_a_fault_is_open_from_its_start_until_it_is_gone() -> None:
    known = Known()
    page = known.define("not-ready")

    known.faults.note(fault(page, "n-0", clock=None))
    assert known.classes() == []
    known.faults.note(fault(page, "n-0"))
    assert known.classes() == ["not-ready"]
    assert known.classes("n-1") == []
    known.faults.drop("u")
    assert known.classes() == []
    assert not known.faults.has("uid-n-0")


@pytest.mark.parametrize("phase", ["Cleared", "Refused"])
def test_a_fault_that_is_over_shows_nothing(phase: str) -> None:
    known = Known()
    known.faults.note(fault(known.define("not-ready"), "n-0", phase=phase))

    assert known.classes() == []
    assert not known.faults.is_open("u")


def test_a_fault_ends_after_its_time_also_where_that_is_changed() -> None:
    known = Known()
    page = known.define("not-ready")
    known.faults.note(fault(page, "n-0", lasts="10m"))

    known.now = NOON + 599
    assert known.classes() == ["not-ready"]
    assert known.wait() == pytest.approx(1.0)
    known.now = NOON + 600
    assert known.classes() == []
    known.faults.note(fault(page, "n-0", lasts="20m"))
    assert known.classes() == ["not-ready"]
    known.faults.note(fault(page, "n-0", lasts="20m", until="2026-01-01T12:10:00Z"))
    assert known.classes() == []


@pytest.mark.parametrize("end", [{"lasts": f"{'9' * 60}h"}, {"until": "2026-99-99T99:99:99Z"}])
def test_an_end_that_cannot_be_read_is_none(end: dict[str, Any]) -> None:
    """The API server refuses both, unless its definition of Faults is an older one."""
    known = Known()
    endless = fault(known.define("not-ready"), "n-0", **end)
    known.faults.note(endless)

    assert known.classes() == ["not-ready"]
    assert known.faults.ends(endless) is None


def test_a_class_says_how_long_its_faults_last_unless_a_fault_does() -> None:
    known = Known()
    page = known.define("reboot")
    known.now = NOON + 61

    known.faults.note(fault(page, "n-0"))
    assert known.classes() == []
    known.faults.note(fault(page, "n-0", lasts="5m"))
    assert known.classes() == ["reboot"]


def test_listeners_hear_of_the_nodes_on_which_something_changes() -> None:
    known = Known()
    page = known.define("not-ready")

    known.faults.note(fault(page, "n-0", "n-1"))
    assert known.heard == [{"uid-n-0": "n-0", "uid-n-1": "n-1"}]
    known.faults.note(fault(page, "n-0", "n-1"))
    assert len(known.heard) == 1
    known.faults.note(fault(page, "n-0"))
    assert known.heard[1:] == [{"uid-n-1": "n-1"}]
    known.faults.note(fault(page, "n-0", phase="Cleared"))
    assert known.heard[2:] == [{"uid-n-0": "n-0"}]
    known.faults.drop("u")
    assert known.heard[3:] == [{"uid-n-0": "n-0"}]


def test_rows_of_pages_count_once_their_fault_has_begun_and_until_they_are_gone() -> None:
    known = Known()
    page = known.define("not-ready")
    many = StoredPage(
        metadata=ObjectMeta(name="p-0"), spec=FaultPageSpec(fault="u", number=0, rows=rows("n-0"))
    )

    known.faults.note_page(many)
    assert known.classes() == []
    assert known.faults.orphans == {"p-0": "u"}
    known.faults.note(fault(page))
    assert known.classes() == ["not-ready"]
    assert known.faults.orphans == {}
    known.faults.drop_page("p-0")
    assert known.classes() == []


def test_a_fault_whose_definition_comes_later_shows_something_from_then_on() -> None:
    known = Known()
    name = definition_name(definition_of(CATALOGUE, "not-ready", ()))
    known.faults.note(fault(name, "n-0"))

    assert known.classes() == []
    known.heard.clear()
    known.define("not-ready")
    assert known.classes() == ["not-ready"]
    assert known.heard == [{"uid-n-0": "n-0"}]


def test_faults_are_in_the_order_of_their_starts() -> None:
    known = Known()
    one, other = known.define("not-ready"), known.define("disk-pressure")
    known.faults.note(fault(one, "n-0", uid="1", name="late", clock=NOON - 1))
    known.faults.note(fault(other, "n-0", uid="2", name="early", clock=NOON - 2))

    assert known.classes() == ["disk-pressure", "not-ready"]


def test_without_their_kind_there_are_no_faults() -> None:
    known = Known()
    known.faults.note(fault(known.define("not-ready"), "n-0"))
    known.heard.clear()

    known.faults.forget()

    assert known.classes() == []
    assert known.heard == [{"uid-n-0": "n-0"}]


def test_the_clock_stands_still_while_no_controller_runs() -> None:
    known = Known()
    known.faults.note(fault(known.define("not-ready"), "n-0", lasts="10m"))
    known.now = NOON + 3600
    assert known.classes() == []

    known.faults.clock.take(0.0, NOON + 60)
    assert known.classes() == ["not-ready"]
    assert known.faults.clock.now() == NOON + 60
    known.now += 539
    assert known.classes() == ["not-ready"]
    known.now += 1
    assert known.classes() == []


def test_a_clock_that_is_set_has_all_faults_looked_at_again() -> None:
    known = Known()
    known.faults.note(fault(known.define("not-ready"), "n-0", lasts="10m"))
    noted: list[str] = []
    known.faults.attend(noted.append)
    known.heard.clear()
    known.faults.clock.take(0.0, NOON)
    known.now = NOON + 3600

    known.faults.clock.take(0.0, NOON - 1)

    assert known.heard == [{"uid-n-0": "n-0"}]
    assert noted == ["u"]


def test_a_fault_has_come_back_if_it_has_begun_and_was_not_known_or_over() -> None:
    known = Known()
    page = known.define("not-ready")

    assert known.faults.has_come_back(fault(page, "n-0"))
    assert not known.faults.has_come_back(fault(page, clock=None))
    known.faults.note(fault(page, "n-0"))
    assert not known.faults.has_come_back(fault(page, "n-0", phase="Landed"))
    known.faults.note(fault(page, "n-0", phase="Cleared"))
    assert known.faults.has_come_back(fault(page, "n-0"))
    assert not known.faults.has_come_back(fault(page, "n-0", phase="Cleared"))


def test_all_pods_of_a_node_are_hit_together() -> None:
    known = Known()
    page = known.define("app-failed")
    texts = tuple(
        row_text(
            UnitRow(
                unit=FaultUnit(node="n-0", node_uid="uid-n-0", pod=f"default/{pod}", pod_uid=pod)
            )
        )
        for pod in ("a", "b")
    )
    known.faults.note_page(
        StoredPage(metadata=ObjectMeta(name="p"), spec=FaultPageSpec(fault="u", rows=texts))
    )
    known.faults.note(fault(page))

    found = {**node(), "metadata": {**node()["metadata"], "uid": "uid-n-0"}}
    (shown,) = known.faults.shown(found).open
    assert shown.identity is not None
    assert shown.identity.pods == ("a", "b")
