""""""

import json
from typing import Any

import pytest

from kwokctl.clusters.scaling.ready_objects import judge_of, word_for
from kwokctl.controller.nodes.facts import DOWN
from kwokctl.embedded.silence import KUBELET


def lacks(kind: str, body: dict[str, Any]) -> str | None:
    verdict = judge_of(kind)(json.dumps({"metadata": {"name": "a"}, **body}).encode())
    assert verdict.name == "a"
    return verdict.lacks


def node(status: str, *taints: str) -> dict[str, Any]:
    return {
        "spec": {"taints": [{"key": key, "effect": "NoSchedule"} for key in taints]},
        "status": {
            "conditions": [
                {"type": "DiskPressure", "status": "False"},
                {"type": "Ready", "status": status, "reason": "R", "message": "why"},
            ]
        },
    }


def test_a_node_is_ready_when_it_says_so_and_has_no_taint_against_it() -> None:
    assert lacks("Node", node("True")) is None
    assert lacks("Node", node("True", "dedicated")) is None


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, "is not Ready"),
        (node("False"), "is not Ready: why"),
        (node("Unknown"), "is not Ready: why"),
        (
            node("True", "node.kubernetes.io/not-ready"),
            "has the taint node.kubernetes.io/not-ready",
        ),
    ],
)
def test_what_a_node_lacks_is_named(body: dict[str, Any], expected: str) -> None:
    assert lacks("Node", body) == expected


@pytest.mark.parametrize(
    ("metadata", "status", "is_broken"),
    [
        ({"labels": {DOWN: "true"}}, "False", True),
        ({"labels": {DOWN: "true"}}, "True", False),
        ({"labels": {DOWN: "false"}}, "False", False),
        ({"annotations": {KUBELET: "silent"}}, "Unknown", True),
        ({"annotations": {"kwokctl.dev/open-faults": "[{}]"}}, "False", True),
        ({}, "False", False),
    ],
)
def test_a_node_is_broken_whose_kubelet_is_down_or_silent_on_purpose(
    metadata: dict[str, Any], status: str, is_broken: bool
) -> None:
    body = {"metadata": {"name": "a", **metadata}, **node(status)}
    assert judge_of("Node")(json.dumps(body).encode()).is_broken is is_broken


@pytest.mark.parametrize("phase", ["Running", "Succeeded"])
def test_a_pod_is_ready_when_it_runs_or_has_succeeded(phase: str) -> None:
    assert lacks("Pod", {"status": {"phase": phase}}) is None


def test_what_a_pod_lacks_is_named() -> None:
    unscheduled = {"type": "PodScheduled", "status": "False", "message": "0/1 nodes available"}
    scheduled = {"type": "PodScheduled", "status": "True"}

    assert lacks("Pod", {}) == "is Pending"
    assert lacks("Pod", {"status": {"phase": "Failed"}}) == "is Failed"
    refused = {"phase": "Failed", "reason": "UnexpectedAdmissionError"}
    assert lacks("Pod", {"status": refused}) == "is Failed: UnexpectedAdmissionError"
    told = {**refused, "message": "Allocate failed"}
    assert lacks("Pod", {"status": told}) == "is Failed: Allocate failed"
    assert lacks("Pod", {"status": {"phase": "Pending", "conditions": [scheduled]}}) == "is Pending"
    assert (
        lacks("Pod", {"status": {"phase": "Pending", "conditions": [unscheduled]}})
        == "is Pending: 0/1 nodes available"
    )


@pytest.mark.parametrize("kind", ["Node", "Pod", "ConfigMap"])
def test_what_is_being_deleted_is_not_ready(kind: str) -> None:
    body = {
        "metadata": {"name": "a", "deletionTimestamp": "2026-01-01T00:00:00Z"},
        **node("True"),
    }

    assert lacks(kind, body) == "is being deleted"


@pytest.mark.parametrize("kind", ["Node", "Pod", "ConfigMap"])
def test_finalizers_hold_only_what_is_being_deleted(kind: str) -> None:
    metadata = {"name": "a", "finalizers": ["x/y"]}
    going = metadata | {"deletionTimestamp": "2026-01-01T00:00:00Z"}

    assert judge_of(kind)(json.dumps({"metadata": metadata}).encode()).held_by == ()
    assert judge_of(kind)(json.dumps({"metadata": going}).encode()).held_by == ("x/y",)


def test_an_object_of_another_kind_is_ready_when_it_exists() -> None:
    assert lacks("ConfigMap", {"data": {"a": "b"}}) is None


def test_the_word_for_ready_depends_on_the_kind() -> None:
    assert [word_for(kind) for kind in ("Node", "Pod", "ConfigMap")] == [
        "Ready",
        "Running",
        "there",
    ]


def test_the_taint_does_not_count_where_nobody_removes_it() -> None:
    judge = judge_of("Node", keeps_taints=True)

    for status, expected in (("True", None), ("False", "is not Ready: why")):
        body = {"metadata": {"name": "a"}, **node(status, "node.kubernetes.io/not-ready")}
        assert judge(json.dumps(body).encode()).lacks == expected
