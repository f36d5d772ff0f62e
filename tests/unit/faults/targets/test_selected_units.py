"""Which whole units of the fleet a target selects."""

from typing import Any

import pytest

from tests.support.fault_targets import candidate_node, fleet, pod
from tests.support.selecting import names, selected


def test_a_unit_fails_as_a_whole() -> None:
    found = selected("leaf-down", fleet(10)[::-1], unit="l-001")

    assert names(found) == ["n-004", "n-005", "n-006", "n-007"]
    assert found.is_reproducible


def test_a_unit_is_hit_as_a_whole_if_one_of_its_nodes_matches() -> None:
    assert names(selected("rack-power", fleet(10), nodes=("n-003",))) == ["n-002", "n-003"]
    assert names(selected("rack-power", fleet(10), where='name == "n-008"')) == ["n-008", "n-009"]


def test_units_are_in_the_order_of_their_names_not_of_their_nodes() -> None:
    nodes = [candidate_node("a", place={"rack": "r-2"}), candidate_node("b", place={"rack": "r-1"})]

    assert names(selected("rack-power", nodes, where="true")) == ["b", "a"]


def test_as_many_units_are_drawn_as_are_wanted() -> None:
    one = names(selected("rack-power", fleet(20), count=1))
    three = names(selected("rack-power", fleet(20), count=3))

    assert (len(one), len(three)) == (2, 6)
    assert three[:2] == one
    assert len({name[2:5] for name in three}) == 6
    assert all(
        int(left[2:]) + 1 == int(right[2:])
        for left, right in zip(three[::2], three[1::2], strict=True)
    )


def test_nodes_of_others_in_a_unit_are_left_out() -> None:
    nodes = [
        candidate_node("a", place={"rack": "r"}),
        candidate_node("b", place={"rack": "r"}, is_ours=False),
    ]

    found = selected("rack-power", nodes, unit="r")

    assert names(found) == ["a"]
    assert found.foreign == ("b",)


@pytest.mark.parametrize(("usage", "racks"), [("busy", ["r-001"]), ("idle", ["r-000", "r-002"])])
def test_a_unit_is_busy_if_one_of_its_nodes_is(usage: str, racks: list[str]) -> None:
    nodes = [*fleet(3), candidate_node("n-003", pod(), place={"rack": "r-001"}), *fleet(6)[4:]]

    found = selected("rack-power", nodes, where="true", usage=usage)

    hit = {unit.node for unit in found.units}
    assert sorted({node.place["rack"] for node in nodes if node.name in hit}) == racks


@pytest.mark.parametrize(
    ("of_spec", "problem", "hint"),
    [
        ({"unit": "l-00x"}, "there is no leaf 'l-00x'", "did you mean 'l-003'?"),
        (
            {"unit": "zzz"},
            "there is no leaf 'zzz'",
            "there are: 'l-000', 'l-001', 'l-002' and 1 more",
        ),
        ({"unit": "r-003"}, "'r-003' is a rack, not a leaf", "it shares nodes with 'l-001'"),
        ({"count": 5}, "5 leaves are wanted, and 4 match", "lower 'count', or let more match"),
        (
            {"where": "true", "usage": "busy"},
            "no leaf of 4 is in use by a pod",
            "'usage: any' allows all",
        ),
    ],
)
def test_no_unit_of_the_fleet_matches(of_spec: Any, problem: str, hint: str) -> None:
    found = selected("leaf-down", fleet(16), **of_spec)

    assert (found.units, found.problem, found.hint) == ((), problem, hint)


@pytest.mark.parametrize(
    ("of_spec", "problem"),
    [({"unit": "l"}, "there is no leaf 'l'"), ({"count": 1}, "no node that matches is in a leaf")],
)
def test_nodes_without_a_place_are_in_no_unit(of_spec: Any, problem: str) -> None:
    found = selected("leaf-down", [candidate_node("a")], **of_spec)

    assert found.problem == problem
    assert found.hint.startswith("only nodes with the annotation kwokctl.dev/place are in units")
