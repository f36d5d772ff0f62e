"""Which pods a target selects."""

from collections.abc import Sequence
from typing import Any

import pytest

from kwokctl.faults.objects.fault_schema import PodTarget
from kwokctl.faults.targets.candidates import CandidateNode
from tests.support.fault_targets import candidate_node, fleet, pod
from tests.support.selecting import names, selected


def on_two_nodes() -> list[CandidateNode]:
    web, train = {"app": "web"}, {"app": "train"}
    return [
        candidate_node("b", pod("default/web-1", labels=web), pod("ml/train-0", labels=train)),
        candidate_node("a", pod("ml/web-9", labels=web), pod("default/web-0", labels=web)),
    ]


@pytest.mark.parametrize(
    ("pods", "hit"),
    [
        (None, ["a/default/web-0", "a/ml/web-9", "b/default/web-1", "b/ml/train-0"]),
        (PodTarget(namespace="ml"), ["a/ml/web-9", "b/ml/train-0"]),
        (PodTarget(selector="app=web"), ["a/default/web-0", "a/ml/web-9", "b/default/web-1"]),
        (PodTarget(namespace="ml", selector="app in (web, x)"), ["a/ml/web-9"]),
        (PodTarget(namespace="m"), None),
    ],
)
def test_pods_are_those_of_a_namespace_with_labels(
    pods: PodTarget | None, hit: list[str] | None
) -> None:
    found = selected("app-failed", on_two_nodes(), where="true", pods=pods)

    if hit is None:
        assert found.problem == "no pod of 4 is in the namespace 'm'"
    else:
        assert names(found) == hit
    assert not found.is_reproducible


def test_pods_have_their_uids_and_nodes() -> None:
    (unit,) = selected(
        "app-failed", on_two_nodes(), nodes=("b",), pods=PodTarget(namespace="ml")
    ).units

    assert (unit.node, unit.node_uid, unit.gpu) == ("b", "uid-b", None)
    assert (unit.pod, unit.pod_uid) == ("ml/train-0", "uid-ml/train-0")


def test_a_count_is_one_of_pods_and_does_not_depend_on_their_nodes() -> None:
    pods = [pod(f"default/p-{number}") for number in range(10)]
    together = [candidate_node("a", *pods)]
    apart = [candidate_node(f"n-{number}", each) for number, each in enumerate(pods)]

    drawn = [
        [unit.pod for unit in selected("app-failed", nodes, count=4).units]
        for nodes in (together, apart)
    ]

    assert drawn[0] == drawn[1]
    assert len(drawn[0]) == 4


@pytest.mark.parametrize(
    ("nodes", "of_spec", "problem"),
    [
        (fleet(2), {}, "no pod is on the 2 nodes that match"),
        (
            on_two_nodes(),
            {"pods": PodTarget(namespace="ml", selector="app=none")},
            "no pod of 2 has the labels 'app=none'",
        ),
        (on_two_nodes(), {"count": 5}, "5 pods are wanted, and 4 match"),
    ],
)
def test_no_pod_matches(nodes: Sequence[CandidateNode], of_spec: Any, problem: str) -> None:
    found = selected("app-failed", nodes, **{"where": "true", **of_spec})

    assert (found.units, found.problem) == ((), problem)
