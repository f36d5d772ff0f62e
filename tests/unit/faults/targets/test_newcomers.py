"""Which nodes that come after the selection a fault hits that follows."""

from typing import Any

import pytest

from kwokctl.expr.duration import format_time
from kwokctl.faults.classes.catalogue import FaultCatalogue
from kwokctl.faults.objects.fault_schema import FaultSpec, FaultStatus, FaultTarget
from kwokctl.faults.objects.row_pages import IN_STATUS, placed
from kwokctl.faults.objects.unit_rows import FaultUnit, UnitRow
from kwokctl.faults.targets.candidates import candidate
from kwokctl.faults.targets.newcomers import came_later, is_complete, units_of_newcomer
from tests.support.faults import NOON

CATALOGUE = FaultCatalogue()


def hit(name: str, found: str = "not-ready", labels: Any = None, **target: Any) -> bool:
    """Return whether a new node without any status is hit."""
    node = {"metadata": {"name": name, "uid": f"uid-{name}", "labels": labels or {}}}
    spec = FaultSpec(class_name=found, target=FaultTarget(follow=True, **target), seed=1)
    units = units_of_newcomer(CATALOGUE.find(found), spec, candidate(node))
    assert all(unit.node_uid == f"uid-{name}" for unit in units)
    return bool(units)


def test_a_new_node_is_hit_if_the_target_allows_it() -> None:
    gpus = 'labels["pool"] == "gpu"'

    assert hit("n-7")
    assert hit("n-7", where=gpus, labels={"pool": "gpu"})
    assert not hit("n-7", where=gpus, labels={"pool": "cpu"})
    assert not hit("n-7", where=gpus)


def test_of_named_nodes_each_is_hit_when_it_comes() -> None:
    assert hit("n-7", nodes=("n-6", "n-7"))
    assert not hit("n-8", nodes=("n-6", "n-7"))


def test_of_a_percentage_each_node_is_hit_with_that_probability() -> None:
    names = [f"n-{number}" for number in range(1000)]

    few = {name for name in names if hit(name, percent=10)}
    many = {name for name in names if hit(name, percent=50)}

    assert 60 < len(few) < 140
    assert 430 < len(many) < 570
    assert few < many


def test_a_count_does_not_depend_on_a_single_node() -> None:
    assert hit("n-7", count=5)


@pytest.mark.parametrize(
    ("seconds", "later"), [(-3600, False), (-3, False), (0, True), (1, True), (3600, True)]
)
def test_only_nodes_that_were_created_after_the_start_come_later(
    seconds: float, later: bool
) -> None:
    status = FaultStatus(injected_at=format_time(NOON + 0.25, nanos=True))

    assert came_later(format_time(NOON + seconds), status) is later


def test_before_its_start_no_node_comes_later() -> None:
    assert not came_later(format_time(NOON), FaultStatus())
    assert not came_later("", FaultStatus(injected_at=format_time(NOON)))


def test_a_fault_is_complete_with_as_many_units_as_it_wants() -> None:
    def spec(**target: Any) -> FaultSpec:
        return FaultSpec(class_name="not-ready", target=FaultTarget(follow=True, **target))

    assert not is_complete(spec(count=3), 2)
    assert is_complete(spec(count=3), 3)
    assert not is_complete(spec(), 10_000)


@pytest.mark.parametrize(
    ("rows", "number"),
    [
        ({}, IN_STATUS),
        ({IN_STATUS: 19}, IN_STATUS),
        ({IN_STATUS: 20}, 0),
        ({IN_STATUS: 20, 0: 499}, 0),
        ({0: 500, 1: 7}, 1),
        ({0: 500, 1: 500}, 2),
    ],
)
def test_new_rows_are_put_where_there_is_room(rows: dict[int, int], number: int) -> None:
    row = UnitRow(unit=FaultUnit(node="n", node_uid="u"))

    found = placed({page: [row] * many for page, many in rows.items()}, [row])
    assert len(found[number]) == rows.get(number, 0) + 1
