"""What a fault hits: the filters of its target, what is drawn, and why nothing is left."""

import random
from typing import Any

import pytest

from tests.support.fault_targets import candidate_node, fleet, pod
from tests.support.selecting import names, selected

GOLDEN = ["n-005/gpu-2", "n-001/gpu-7", "n-004/gpu-0"]


def test_all_that_match_are_in_the_order_of_their_names() -> None:
    nodes = [*fleet(6)]
    random.Random(1).shuffle(nodes)

    assert names(selected("not-ready", nodes, where="true")) == [node.name for node in fleet(6)]


def test_nodes_are_those_with_the_names_once_each() -> None:
    found = selected("not-ready", fleet(6), nodes=("n-004", "n-001", "n-004"))

    assert names(found) == ["n-001", "n-004"]
    assert [unit.node_uid for unit in found.units] == ["uid-n-001", "uid-n-004"]
    assert [unit.gpu for unit in found.units] == [None, None]


@pytest.mark.parametrize(
    ("unit", "nodes"),
    [("r-001", ["n-002", "n-003"]), ("l-001", ["n-004", "n-005", "n-006", "n-007"])],
)
def test_a_unit_of_any_level_has_its_nodes(unit: str, nodes: list[str]) -> None:
    assert names(selected("not-ready", fleet(9), unit=unit)) == nodes


def test_filters_apply_together() -> None:
    nodes = ("n-002", "n-003", "n-004")

    found = selected("not-ready", fleet(9), nodes=nodes, unit="l-000", where='name != "n-002"')

    assert names(found) == ["n-003"]


@pytest.mark.parametrize(
    ("usage", "hit"), [("any", ["a", "b", "c"]), ("busy", ["b"]), ("idle", ["a", "c"])]
)
def test_a_node_is_busy_with_a_pod_that_is_not_there_because_of_it(
    usage: str, hit: list[str]
) -> None:
    nodes = [
        candidate_node("a"),
        candidate_node("b", pod()),
        candidate_node("c", pod(is_of_node=True)),
    ]

    found = selected("not-ready", nodes, where="true", usage=usage)

    assert names(found) == hit
    assert found.is_reproducible is (usage == "any")


def test_nodes_of_others_are_left_out_and_named() -> None:
    nodes = [
        candidate_node("a", is_ours=False),
        candidate_node("b"),
        candidate_node("c", is_ours=False),
    ]

    found = selected("not-ready", nodes, nodes=("a", "b"))

    assert names(found) == ["b"]
    assert found.foreign == ("a",)


def test_nodes_of_others_are_hit_if_they_are_wanted() -> None:
    nodes = [candidate_node("a", is_ours=False), candidate_node("b")]

    found = selected("not-ready", nodes, where="true", foreign=True)

    assert names(found) == ["a", "b"]
    assert found.foreign == ()


def test_nodes_of_others_alone_are_no_match_and_counted() -> None:
    found = selected("not-ready", fleet(3, is_ours=False), where="true")

    assert found.units == ()
    assert found.problem == "no controller of kwokctl plays any of the 3 nodes that match"
    assert found.hint == "'foreign: true' allows them, too"
    assert found.foreign == ("n-000", "n-001", "n-002")


@pytest.mark.parametrize("class_name", ["not-ready", "xid-79", "ib-port-down"])
def test_a_larger_count_hits_what_a_smaller_one_does_and_more(class_name: str) -> None:
    all_of_them = names(selected(class_name, fleet(40), count=40))

    assert len(set(all_of_them)) == 40
    for count in (1, 7, 39):
        assert names(selected(class_name, fleet(40), count=count)) == all_of_them[:count]


@pytest.mark.parametrize("class_name", ["not-ready", "xid-79"])
@pytest.mark.parametrize("seed", range(5))
def test_a_node_that_comes_or_goes_leaves_the_draws_of_others_alone(
    class_name: str, seed: int
) -> None:
    before = names(selected(class_name, fleet(30), count=10, seed=seed))
    more = names(selected(class_name, fleet(31), count=10, seed=seed))
    fewer = names(selected(class_name, fleet(30)[1:], count=10, seed=seed))

    new = {each for each in more if each.startswith("n-030")}
    gone = {each for each in before if each.startswith("n-000")}
    assert [each for each in more if each not in new] == before[: 10 - len(new)]
    assert fewer[: 10 - len(gone)] == [each for each in before if each not in gone]


def test_another_seed_and_another_class_draw_others() -> None:
    drawn = {
        tuple(unit.node for unit in selected(class_name, fleet(40), count=5, seed=seed).units)
        for class_name in ("not-ready", "silent")
        for seed in (1, 2)
    }

    assert len(drawn) == 4


def test_what_is_drawn_stays_the_same_in_later_versions() -> None:
    assert names(selected("xid-79", fleet(10), count=3, seed=42)) == GOLDEN


def test_each_node_is_drawn_as_often_as_any_other() -> None:
    hits = [
        unit.node
        for seed in range(300)
        for unit in selected("not-ready", fleet(4), count=1, seed=seed).units
    ]

    # The chance that one of them is outside of five standard deviations is one in a million.
    assert all(75 - 38 < hits.count(node.name) < 75 + 38 for node in fleet(4))


@pytest.mark.parametrize(
    ("percent", "size", "number"),
    [
        (1, 1000, 10),
        (1, 149, 1),
        (1, 150, 2),
        (0.1, 10, 1),
        (7, 100, 7),
        (50, 3, 2),
        (100, 3, 3),
        (10, 24, 2),
    ],
)
def test_a_percentage_is_rounded_to_the_nearest_number_and_is_at_least_one(
    percent: float, size: int, number: int
) -> None:
    assert len(selected("not-ready", fleet(size), percent=percent).units) == number


def test_a_percentage_is_one_of_those_that_match() -> None:
    found = selected("not-ready", fleet(20), percent=50, unit="l-001")

    assert len(found.units) == 2
    assert {unit.node for unit in found.units} < {"n-004", "n-005", "n-006", "n-007"}


def test_fewer_than_the_count_are_a_problem() -> None:
    found = selected("not-ready", fleet(6), count=3, unit="r-001")

    assert found.units == ()
    assert found.problem == "3 nodes are wanted, and 2 match"
    assert found.hint == "lower 'count', or let more match"


def test_fewer_than_the_count_are_hit_if_later_nodes_follow() -> None:
    assert len(names(selected("not-ready", fleet(2), count=3, follow=True))) == 2


@pytest.mark.parametrize(
    ("of_spec", "problem", "hint"),
    [
        ({"nodes": ("n-00",)}, "there is no node 'n-00'", "did you mean 'n-005'?"),
        (
            {"nodes": ("x1", "n-001", "x2", "x3", "x4", "x5")},
            "there are no nodes 'x1', 'x2', 'x3' and 2 more",
            "list the nodes: kubectl get nodes",
        ),
        ({"unit": "r-00"}, "there is no unit of the fleet 'r-00'", "did you mean 'r-002'?"),
        (
            {"unit": "r-002", "nodes": ("n-001",)},
            "none of the given nodes is in 'r-002'",
            "give nodes or a unit, not both",
        ),
        ({"where": "gpus > 8"}, "no node of 6 meets 'gpus > 8'", ""),
        ({"where": "gpus > 8", "unit": "r-001"}, "no node of 2 meets 'gpus > 8'", ""),
        (
            {"where": 'labels.team == "a"'},
            """CEL 'labels.team == "a"': there is no field 'team', at line 1, column 7, for the node 'n-000'""",
            """ask first whether a key is there: "team" in labels && labels["team"] == "a\"""",
        ),
        (
            {"where": "true", "usage": "busy"},
            "no node of 6 is in use by a pod",
            "'usage: any' allows all",
        ),
    ],
)
def test_a_filter_that_leaves_nothing_says_so(of_spec: Any, problem: str, hint: str) -> None:
    found = selected("not-ready", fleet(6), **of_spec)

    assert (found.units, found.foreign) == ((), ())
    assert (found.problem, found.hint) == (problem, hint)


def test_a_cluster_without_nodes_has_nothing_to_hit() -> None:
    found = selected("not-ready", [], count=1)

    assert found.problem == "there are no nodes"
    assert found.hint == "make some: kwokctl scale node --replicas 8"


@pytest.mark.parametrize(
    ("where", "is_reproducible"),
    [("busy == 0", False), ("pods == 0", False), ("gpus > 0 && ready", True), ("gpus >", True)],
)
def test_an_expression_over_pods_is_not_reproducible(where: str, is_reproducible: bool) -> None:
    assert selected("not-ready", fleet(3), where=where).is_reproducible is is_reproducible
