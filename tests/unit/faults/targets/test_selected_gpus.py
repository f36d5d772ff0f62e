"""Which GPUs a target selects."""

from collections.abc import Sequence
from typing import Any

import pytest

from kwokctl.faults.targets.candidates import CandidateNode
from tests.support.fault_targets import candidate_node, fleet, pod
from tests.support.selecting import names, selected


def test_a_given_gpu_is_hit_on_each_node() -> None:
    found = selected("xid-79", fleet(3), nodes=("n-000", "n-002"), parameters={"gpu": 0})

    assert [(unit.node, unit.gpu) for unit in found.units] == [("n-000", 0), ("n-002", 0)]


def test_a_gpu_is_hit_whether_it_is_in_use_or_not() -> None:
    nodes = [candidate_node("a", pod("default/a", 3)), candidate_node("b", pod("default/b", 2))]

    found = selected("xid-79", nodes, where="true", parameters={"gpu": 3})

    assert names(found) == ["a/gpu-3", "b/gpu-3"]


def test_without_a_given_gpu_one_of_each_node_is_drawn() -> None:
    found = selected("xid-79", fleet(200), where="true")

    assert [unit.node for unit in found.units] == [node.name for node in fleet(200)]
    assert {unit.gpu for unit in found.units} == set(range(8))


def test_the_gpu_of_a_node_is_the_same_whether_others_are_hit_or_not() -> None:
    (alone,) = names(selected("xid-79", fleet(9), nodes=("n-004",)))

    assert alone in names(selected("xid-79", fleet(9), where="true"))


@pytest.mark.parametrize(("usage", "hit"), [("busy", ["n/gpu-1"]), ("idle", ["n/gpu-0"])])
def test_usage_is_that_of_gpus(usage: str, hit: list[str]) -> None:
    nodes = [
        candidate_node("n", pod("default/a", 1), gpus=2),
        candidate_node("cpu", pod("default/b"), gpus=0),
    ]

    assert names(selected("xid-79", nodes, where="true", usage=usage)) == hit


def test_a_node_whose_given_gpu_has_another_usage_is_left_out() -> None:
    nodes = [candidate_node("a", pod("default/a", 3)), candidate_node("b", pod("default/b", 2))]

    found = selected("xid-79", nodes, where="true", usage="busy", parameters={"gpu": 3})

    assert names(found) == ["a/gpu-3"]
    assert not found.is_reproducible


NONE_HAS_ANY = "none of them has any; 'kwokctl scale dgx-h100 --replicas 4' makes nodes that do"


@pytest.mark.parametrize(
    ("nodes", "of_spec", "problem", "hint"),
    [
        (fleet(3, gpus=0), {}, "no node of 3 has a GPU", NONE_HAS_ANY),
        (
            fleet(3, gpus=4),
            {"parameters": {"gpu": 4}},
            "no node of 3 has a GPU 4",
            "give an index from 0 to 3",
        ),
        (
            fleet(3, gpus=0),
            {"parameters": {"gpu": 0}},
            "no node of 3 has a GPU 0",
            NONE_HAS_ANY,
        ),
        (
            fleet(3),
            {"usage": "busy"},
            "no GPU of 3 nodes is in use by a pod",
            "'usage: any' allows all",
        ),
        (
            [candidate_node("a", pod("default/a", 3))],
            {"usage": "idle", "parameters": {"gpu": 3}},
            "no GPU 3 of 1 nodes is idle",
            "'usage: any' allows all",
        ),
    ],
)
def test_no_gpu_matches(
    nodes: Sequence[CandidateNode], of_spec: Any, problem: str, hint: str
) -> None:
    found = selected("xid-79", nodes, where="true", **of_spec)

    assert (found.units, found.problem, found.hint) == ((), problem, hint)


def test_a_node_without_the_given_gpu_is_left_out() -> None:
    nodes = [candidate_node("a", gpus=8), candidate_node("b", gpus=4)]

    assert names(selected("xid-79", nodes, count=1, parameters={"gpu": 4})) == ["a/gpu-4"]


def test_a_link_of_a_class_without_a_gpu_is_one_of_the_node() -> None:
    found = selected("ib-port-down", fleet(2, gpus=0), where="true", parameters={"port": 1})

    assert names(found) == ["n-000", "n-001"]
