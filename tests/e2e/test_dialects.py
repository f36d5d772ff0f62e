"""Nodes that are born with the healthy conditions of dialects of faults, in a real cluster."""

from typing import Any

import pytest

from tests.support.installed import Installed, condition, until
from tests.support.stage_documents import stage

pytestmark = [pytest.mark.e2e, pytest.mark.components, pytest.mark.timeout(600, func_only=True)]

PAST_THE_API, THROUGH_THE_API = "dgx-h100", "node"
DIALECTS = ("--param", '.dialects = ["aks", "dgx"]')
KUBELETS, AGENTS = 5, 5 + 19
LOST = stage(
    "gpu-lost",
    "Node",
    phase="Running",
    weight=1,
    selector={
        "matchLabels": {"gpu": "lost"},
        "matchExpressions": [
            {
                "jq": {
                    "key": '.status.conditions.[] | select(.type == "GPUMissing") | .status',
                    "operator": "In",
                    "values": ["False"],
                }
            }
        ],
    },
    template="""
conditions:
{{ range NodeConditions }}
- type: {{ Quote .type }}
  lastHeartbeatTime: {{ Quote Now }}
{{ end }}
- type: GPUMissing
  status: "True"
  reason: FromStage
""",
)
"""Sets one condition, and reports those of a healthy kubelet; it goes before heartbeats, which have no weight."""


@pytest.fixture(scope="module")
def cluster(with_stages: Installed) -> Installed:
    with_stages.ok("scale", PAST_THE_API, "--replicas", "30", "--wait", *DIALECTS)
    with_stages.ok("scale", THROUGH_THE_API, "--replicas", "2", "--wait", *DIALECTS)
    with_stages.apply(LOST)
    return with_stages


def words(node: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Return the status and the reason of the conditions."""
    return {each["type"]: (each["status"], each["reason"]) for each in node["status"]["conditions"]}


def of_node(cluster: Installed, name: str) -> dict[str, tuple[str, str]]:
    return words(cluster.found("node", name))


def test_all_nodes_are_ready_and_say_that_they_are_healthy(cluster: Installed) -> None:
    nodes = cluster.objects("nodes")

    assert len(nodes) == 32
    assert all(words(node) == words(nodes[0]) for node in nodes)
    assert len(nodes[0]["status"]["conditions"]) == KUBELETS + AGENTS
    assert condition(nodes[0], "Ready") == "True"
    assert words(nodes[0])["GPUMissing"] == ("False", "NoGPUMissing")
    assert words(nodes[0])["AggregatedNodeHealth"] == ("True", "NodeReady")


@pytest.mark.parametrize("kind", [PAST_THE_API, THROUGH_THE_API])
def test_a_stage_changes_its_condition_and_the_others_stay(cluster: Installed, kind: str) -> None:
    name = f"{kind}-000000"
    before = of_node(cluster, name)

    cluster.label("node", name, "gpu=lost")

    lost = {**before, "GPUMissing": ("True", "FromStage")}
    until("the Stage is played", lambda: of_node(cluster, name) != before)
    assert of_node(cluster, name) == lost


def test_they_stay_when_the_cluster_is_restarted(cluster: Installed) -> None:
    before = {each["metadata"]["name"]: words(each) for each in cluster.objects("nodes")}
    cluster.ok("stop", "cluster")
    cluster.ok("start", "cluster", "--wait")

    after = f"{PAST_THE_API}-000001"
    cluster.label("node", after, "gpu=lost")

    until("the Stage is played", lambda: of_node(cluster, after) != before[after])
    lost = {**before[after], "GPUMissing": ("True", "FromStage")}
    found = {each["metadata"]["name"]: words(each) for each in cluster.objects("nodes")}
    assert found == {**before, after: lost}


def test_a_replaced_node_is_born_alike(cluster: Installed) -> None:
    name = f"{PAST_THE_API}-000002"
    before = of_node(cluster, name)
    cluster.delete("node", name)

    cluster.ok("scale", PAST_THE_API, "--replicas", "30", "--wait")

    assert of_node(cluster, name) == before
