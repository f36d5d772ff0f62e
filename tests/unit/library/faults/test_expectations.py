"""What a node must be to be as expected, and what an error says that it shows."""

from typing import Any

import pytest

from kwokctl.clusters.faults.node_wait import NodeExpectation, ObservedNode
from kwokctl.library.faults import (
    condition,
    cordoned,
    drained,
    gone,
    labelled,
    no_longer,
    ready,
    tainted,
)
from kwokctl.library.faults.expectations import expectation


def node(*taints: dict[str, str], is_cordoned: bool = False, **labels: str) -> dict[str, Any]:
    spec = {"taints": [*taints], **({"unschedulable": True} if is_cordoned else {})}
    conditions = [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]
    return {"metadata": {"name": "n", "labels": labels}, "spec": spec, "status": {"conditions": conditions}}  # fmt: skip


def pod(name: str, phase: str = "Running", owner: str = "Job", **annotations: str) -> dict[str, Any]:  # fmt: skip
    meta = {"name": name, "namespace": "a", "annotations": annotations, "ownerReferences": [{"kind": owner}]}  # fmt: skip
    return {"metadata": meta, "status": {"phase": phase}}


def hit(shown: dict[str, Any] | None, *pods: dict[str, Any]) -> ObservedNode:
    return ObservedNode(name="n", node=shown, pods=pods)


TAINT = {"key": "a", "effect": "NoExecute"}


@pytest.mark.parametrize(
    ("expected", "shown", "holds", "says"),
    [
        (cordoned, node(is_cordoned=True), True, "cordoned, Ready=True, no taints"),
        (cordoned, node(TAINT), False, "schedulable, Ready=True, taints a:NoExecute"),
        (tainted("a"), node(TAINT), True, "taints a:NoExecute"),
        (tainted("a", "NoSchedule"), node(TAINT), False, "taints a:NoExecute"),
        (ready, node(), True, "Ready=True KubeletReady"),
        (condition("Ready", "Unknown"), node(), False, "Ready=True KubeletReady"),
        (condition("GPUMissing"), node(), False, "it has no condition GPUMissing"),
        (labelled("a"), node(a="b"), True, "a=b"),
        (labelled("a", "c"), node(a="b"), False, "a=b"),
        (labelled("a", "c"), node(), False, "it has no label a"),
        (gone, None, True, "gone"),
        (gone, node(), False, "schedulable, Ready=True, no taints"),
        (cordoned, None, False, "not there"),
        (no_longer(cordoned), node(), True, "schedulable, Ready=True, no taints"),
        (no_longer(cordoned), None, False, "not there"),
        (no_longer(gone), node(), True, "schedulable, Ready=True, no taints"),
        (no_longer(gone), None, False, "gone"),
    ],
)
def test_a_node_is_as_expected_or_shows_something_else(
    expected: NodeExpectation, shown: dict[str, Any] | None, holds: bool, says: str
) -> None:
    assert expected.holds(hit(shown)) is holds
    assert expected.shows(hit(shown)) == says


def test_a_node_is_drained_when_only_pods_are_on_it_that_a_drain_leaves() -> None:
    staying = [pod("d", owner="DaemonSet"), pod("e", "Succeeded"), pod("f", **{"kubernetes.io/config.mirror": "x"})]  # fmt: skip
    whole = node(is_cordoned=True)

    assert drained.sees_pods
    assert drained.holds(hit(whole, *staying))
    assert not drained.holds(hit(node(), *staying))
    assert not drained.holds(hit(whole, *staying, pod("g")))
    assert not drained.holds(hit(None))
    assert drained.shows(hit(whole, pod("c"), pod("a"), pod("b"))) == "cordoned, pods left: a/a, a/b and 1 more"  # fmt: skip
    assert drained.shows(hit(node())) == "schedulable, no pods left"
    assert no_longer(drained).sees_pods


def test_a_function_of_a_node_is_an_expectation_under_its_name() -> None:
    def has_a_label(found: Any) -> bool:
        return "a" in found["metadata"]["labels"]

    assert expectation(has_a_label).words == "has_a_label"
    assert expectation(has_a_label).holds(hit(node(a="b")))
    assert not expectation(has_a_label).holds(hit(None))
    assert expectation(lambda _: True).words == "as expected"
    assert expectation(cordoned) is cordoned
