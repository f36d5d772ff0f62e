import os
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kwokctl.clusters.stage_tools.cases import run_cases
from kwokctl.clusters.stage_tools.explain import StageVerdict, explain
from kwokctl.clusters.stage_tools.functions import example_functions
from kwokctl.clusters.stage_tools.graph import state_of
from kwokctl.clusters.stage_tools.sources import object_in, stage_documents_of, stages_for
from kwokctl.controller.stages.stage_choice import basis, pick
from kwokctl.kube.client import PatchType
from kwokctl.kube.patching.apply_patch import apply_patch
from tests.support.options import cluster_options

FOLDER = Path(__file__).parents[3] / "golden" / "stages" / "sets"
IS_WRITING = bool(os.environ.get("KWOKCTL_REWRITE_GOLDEN"))
OPTIONS = cluster_options()


@pytest.mark.parametrize("name", sorted(folder.name for folder in FOLDER.iterdir()))
def test_a_set_has_its_documented_effect(name: str) -> None:
    results = run_cases(FOLDER / name, stage_documents_of([name], OPTIONS), is_writing=IS_WRITING)

    assert [each.difference for each in results if each.state not in {"passed", "written"}] == []


@pytest.mark.parametrize("pods", ["pod-fast", "pod-general"])
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("pod-of-job-with-deadline", "pod-complete"),
        ("pod-of-job-with-delay-before-its-deadline", "pod-complete"),
        ("pod-of-job-with-delay-beyond-its-deadline", "pod-deadline-exceeded"),
        ("pod-of-nobody-with-delay-before-its-deadline", "pod-run-to-completion"),
        ("pod-of-nobody-with-delay-beyond-its-deadline", "pod-deadline-exceeded"),
        ("pod-with-deadline", "pod-deadline-exceeded"),
    ],
)
def test_a_pod_does_not_outlive_its_deadline(pods: str, name: str, expected: str) -> None:
    value = object_in(FOLDER / "pod-run-to-completion" / f"{name}.input.yaml")
    documents = stage_documents_of([pods, "pod-run-to-completion"], OPTIONS)
    random = Random(name)
    found = basis(stages_for(documents, value), value)

    assert {stage.name for _ in range(20) if (stage := pick(found, random))} == {expected}


def random_container(random: Random, name: str) -> dict[str, Any]:
    resources = {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}
    return {
        "name": name,
        "image": "busybox",
        **({"resources": resources} if random.random() < 0.5 else {}),
    }


def random_pod(random: Random) -> dict[str, Any]:
    first = [random_container(random, f"i{number}") for number in range(random.randrange(3))]
    for each in first:
        if random.random() < 0.3:
            each["restartPolicy"] = "Always"
    others = [random_container(random, f"c{number}") for number in range(1, random.randrange(2, 4))]
    owner = {
        "apiVersion": "batch/v1",
        "kind": random.choice(["Job", "ReplicaSet"]),
        "name": "o",
        "uid": "o",
    }
    fails = random.choice(
        ["pod-container-running-failed", "pod-init-container-running-failed", "x"]
    )
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "pod",
            "namespace": "default",
            "uid": str(random.random()),
            **random.choice([{}, {"ownerReferences": [owner]}]),
            **random.choice([{}, {"labels": {f"{fails}.stage.kwok.x-k8s.io": "true"}}]),
        },
        "spec": {
            "nodeName": "node",
            "restartPolicy": random.choice(["Always", "Never", "OnFailure"]),
            "containers": others,
            **({"initContainers": first} if first else {}),
            **random.choice([{}, {"readinessGates": [{"conditionType": "example.com/gate"}]}]),
            **random.choice([{}, {"hostNetwork": True}]),
            **random.choice([{}, {"activeDeadlineSeconds": 60}]),
        },
        "status": {"phase": "Pending"},
    }


def random_node(random: Random) -> dict[str, Any]:
    is_failing = random.random() < 0.3
    labels = {"node-not-ready.stage.kwok.x-k8s.io": "true"} if is_failing else {}
    resources = {"node-device-ready.stage.kwok.x-k8s.io/resources": '{"example.com/gpu": "1"}'}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": "node",
            "uid": str(random.random()),
            "labels": labels,
            **random.choice([{}, {"annotations": resources}]),
        },
        "status": random.choice([{}, {"allocatable": {"cpu": "1"}, "capacity": {"cpu": "1"}}]),
    }


def lived(value: dict[str, Any], sets: list[str], random: Random) -> list[str]:
    """Play Stages, each chosen as it may be, until none changes the state; return the states."""
    documents, functions = stage_documents_of(sets, OPTIONS), example_functions(lambda: 1.7e9)
    states = [state_of(value)]
    while True:
        chosen = pick(basis(stages_for(documents, value), value), random)
        if chosen is None:
            return states
        [verdict] = explain([chosen], value, functions, 1.7e9)
        value = played(value, verdict)
        if state_of(value) == states[-1]:
            return states
        states.append(state_of(value))
        assert len(states) < 12, states


def played(value: dict[str, Any], verdict: StageVerdict) -> dict[str, Any]:
    for step in verdict.next:
        if step["kind"] == "patch":
            value = apply_patch(value, step["data"], PatchType(step["type"]), value["kind"])
    return value


@pytest.mark.parametrize("pods", ["pod-fast", "pod-general"])
def test_every_pod_reaches_a_final_stage(pods: str) -> None:
    random = Random(f"pods of {pods}")
    for _ in range(150):
        pod = random_pod(random)
        states = lived(pod, [pods, "pod-chaos", "pod-run-to-completion"], random)

        assert states[-1].startswith(("Running", "Succeeded", "Failed")), (pod, states)
        is_of_job = pod["metadata"].get("ownerReferences", [{}])[0].get("kind") == "Job"
        assert not is_of_job or not states[-1].startswith("Running")


@pytest.mark.parametrize("nodes", ["node-fast", "node-boot"])
def test_every_node_is_ready_in_the_end_unless_it_is_to_fail(nodes: str) -> None:
    random = Random(f"nodes of {nodes}")
    for _ in range(50):
        node = random_node(random)
        if node["metadata"]["labels"]:
            continue
        states = lived(node, [nodes], random)

        assert "Ready" in states[-1], (node, states)


def test_a_node_that_is_to_fail_is_not_ready_and_stays_so() -> None:
    random = Random(3)
    node = random_node(random) | {"status": {"phase": "Running"}}
    node["metadata"]["labels"] = {"node-not-ready.stage.kwok.x-k8s.io": "true"}

    assert lived(node, ["node-fast", "node-chaos"], random)[-1] == "Running"
