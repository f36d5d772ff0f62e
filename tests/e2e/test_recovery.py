"""Nodes that fall silent and come back, with the real components: what recovers, and what stays."""

import json
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from tests.support.installed import Installed, condition, until

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.story,
    pytest.mark.timeout(600, func_only=True),
]

SHORT_TIMES = """\
apiVersion: config.kwok.x-k8s.io/v1alpha1
kind: KwokctlConfiguration
options:
  nodeLeaseDurationSeconds: 8
  kubeControllerManagerNodeMonitorPeriodMilliseconds: 500
  kubeControllerManagerNodeMonitorGracePeriodMilliseconds: 8000
"""
"""A node is lost eight seconds after its last sign of life."""

LONG_AGO = "2020-01-01T00:00:00Z"
TIMES = {"lastHeartbeatTime": LONG_AGO, "lastTransitionTime": LONG_AGO}
FOREIGN = [
    {"type": "Gpu", "status": "False", "reason": "Lost", "message": "fell off the bus", **TIMES},
    {"type": "MemoryPressure", "status": "True", "reason": "Mine", "message": "none left", **TIMES},
]
"""Conditions of a node by another client."""
NODE, UNREADY, DOOMED = "node-000000", "pod-000000", "pod-000001"


@pytest.fixture(scope="module")
def cluster(installed: Installed) -> Installed:
    """Twenty nodes and forty pods, one of which another client has made unready."""
    cluster = installed.called("recovery")
    config = installed.folder / "config.yaml"
    config.write_text(SHORT_TIMES)
    cluster.ok("create", "cluster", "--wait", "--heartbeat-factor", "1", "--config", str(config))
    cluster.ok("scale", "node", "--replicas", "20", "--wait")
    cluster.ok("scale", "pod", "--replicas", "40", "--wait")
    patch_status(cluster, "pod", UNREADY, [{"type": "Ready", "status": "False"}])
    return cluster


def patch_status(cluster: Installed, kind: str, name: str, conditions: list[Any]) -> None:
    patch = json.dumps({"status": {"conditions": conditions}})
    cluster.kubectl("patch", kind, name, "--subresource=status", "--patch", patch)


def with_ready(cluster: Installed, kind: str, status: str) -> set[str]:
    """Return the names of the objects whose condition Ready has a status."""
    return {
        each["metadata"]["name"]
        for each in cluster.objects(kind)
        if condition(each, "Ready") == status
    }


def transitions(cluster: Installed, kind: str) -> dict[str, str]:
    """Return by name when the condition Ready has changed its status."""
    return {
        each["metadata"]["name"]: said["lastTransitionTime"]
        for each in cluster.objects(kind)
        for said in each["status"]["conditions"]
        if said["type"] == "Ready"
    }


def unreachable(cluster: Installed) -> list[str]:
    return [
        taint["key"]
        for node in cluster.objects("nodes")
        for taint in node["spec"].get("taints", ())
        if taint["key"] == "node.kubernetes.io/unreachable"
    ]


@dataclass(frozen=True, slots=True)
class Silence:
    """When Ready has changed its status, by the names of nodes and pods, before they came back."""

    nodes: Mapping[str, str]
    pods: Mapping[str, str]


@pytest.fixture(scope="module")
def silence(cluster: Installed) -> Silence:
    """Let the nodes be silent until they and their pods are given up; others go on meanwhile."""
    with cluster.paused("kwok-controller"):
        until("every node is given up", lambda: len(with_ready(cluster, "nodes", "Unknown")) == 20)
        until("every pod is unready", lambda: len(with_ready(cluster, "pods", "False")) == 40)
        patch_status(cluster, "node", NODE, FOREIGN)
        cluster.kubectl("delete", "pod", DOOMED, "--wait=false")
        return Silence(transitions(cluster, "nodes"), transitions(cluster, "pods"))


def test_nodes_that_are_back_are_ready_and_untainted(cluster: Installed, silence: Silence) -> None:
    until("every node is Ready", lambda: len(with_ready(cluster, "nodes", "True")) == 20)
    until("no node is tainted as unreachable", lambda: not unreachable(cluster))

    now = transitions(cluster, "nodes")
    assert all(now[name] >= silence.nodes[name] for name in now)


def test_their_pods_are_ready_again(cluster: Installed, silence: Silence) -> None:
    until("the pods are Ready", lambda: len(with_ready(cluster, "pods", "True")) == 38)

    now = transitions(cluster, "pods")
    assert {name for name in now if now[name] > silence.pods[name]} == {*now} - {UNREADY}


def test_a_pod_that_another_client_made_unready_stays_unready(cluster: Installed) -> None:
    assert with_ready(cluster, "pods", "False") == {UNREADY}


def test_a_pod_that_was_deleted_meanwhile_is_gone(cluster: Installed) -> None:
    until("it is gone", lambda: DOOMED not in transitions(cluster, "pods"))


def test_conditions_of_nodes_that_another_client_wrote_keep_their_times(cluster: Installed) -> None:
    said = json.loads(cluster.kubectl("get", "node", NODE, "-o", "json"))["status"]["conditions"]

    types = {each["type"] for each in FOREIGN}
    assert [each for each in said if each["type"] in types] == FOREIGN


LOST = """\
apiVersion: v1
kind: Pod
metadata: {name: lost, finalizers: [kwok.x-k8s.io/e2e]}
spec: {nodeName: nowhere, containers: [{name: c, image: i}]}
---
apiVersion: v1
kind: Node
metadata: {name: late, annotations: {kwok.x-k8s.io/node: fake}}
"""
"""A pod whose node does not exist, and a node that does not become Ready while the controller is dead."""


def test_the_doctor_finds_what_is_broken_and_repairs_it(cluster: Installed) -> None:
    for component in "kube-scheduler", "kwok-controller":
        os.kill(cluster.pids()[component], signal.SIGKILL)
    cluster.kubectl("create", "-f", "-", stdin=LOST)
    cluster.kubectl("delete", "pod", "lost", "--wait=false")
    root = cluster.workdir / "clusters" / cluster.name
    root.chmod(0o755)
    until("they are dead", lambda: cluster.run("status").code == 1)

    found = examined(cluster)
    assert {"rights", "components", "nodes", "pods"} <= wrong(found)
    [nodes] = [each for each in found["ofCluster"] if each["check"] == "nodes"]
    assert any("'node-initialize' matches 'late'" in note for note in nodes["notes"])

    cluster.run("doctor", "--fix")
    until("all is well", lambda: not wrong({**examined(cluster), "machine": ()}))
    assert root.stat().st_mode & 0o777 == 0o700


def examined(cluster: Installed) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(cluster.run("doctor", "-o", "json").out)
    return found


def wrong(found: Mapping[str, Any]) -> set[str]:
    """Return the names of the checks that have found something."""
    checks = (*found["machine"], *found["ofCluster"])
    return {each["check"] for each in checks if each["findings"]}
