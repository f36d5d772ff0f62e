"""Nodes that fall silent and come back, with the real components: what recovers, and what stays."""

import json
import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kwokctl.artifacts.program_platform import here
from kwokctl.artifacts.resolve_programs import store_of
from kwokctl.host.paths import cache_dir
from tests.support.changing import documents
from tests.support.installed import Installed, condition, taken_port, until

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
    cluster.patch(kind, name, "--subresource=status", "--patch", patch)


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
        cluster.delete("pod", DOOMED, "--wait=false")
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
    said = cluster.found("node", NODE)["status"]["conditions"]

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


HELD = ("namespace/held", "persistentvolumeclaim/held")
HELD_OBJECTS = f"""\
apiVersion: v1
kind: Namespace
metadata:
  name: held
  uid: 5a9a1c2e-7f5b-4c11-9d61-3f6f6a1f0b01
  creationTimestamp: {LONG_AGO}
  deletionTimestamp: {LONG_AGO}
  deletionGracePeriodSeconds: 0
  finalizers: [example.com/e2e]
spec: {{finalizers: [kubernetes]}}
status: {{phase: Terminating}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: held
  namespace: default
  uid: 5a9a1c2e-7f5b-4c11-9d61-3f6f6a1f0b02
  creationTimestamp: {LONG_AGO}
  deletionTimestamp: {LONG_AGO}
  deletionGracePeriodSeconds: 0
  finalizers: [example.com/e2e]
spec: {{accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}}}
status: {{phase: Pending}}
"""
"""What was deleted long ago, and is held by a finalizer that no controller takes away."""


def test_the_doctor_finds_what_is_broken_and_repairs_it(cluster: Installed, tmp_path: Path) -> None:
    for component in "kube-scheduler", "kwok-controller":
        os.kill(cluster.pids()[component], signal.SIGKILL)
    cluster.create(*documents(LOST))
    cluster.delete("pod", "lost", "--wait=false")
    assert cluster.run("etcd", "put", "--path", "-", stdin=HELD_OBJECTS).code == 0
    root = cluster.workdir / "clusters" / cluster.name
    root.chmod(0o755)
    until("they are dead", lambda: cluster.run("status").code == 1)

    cache = damaged_store(tmp_path)
    [scheduler] = {each["hostPort"] for each in cluster.components()["kube-scheduler"]["ports"]}
    with taken_port(scheduler), taken_port() as port:
        found = examined(cluster, XDG_CACHE_HOME=str(cache), KWOK_ETCD_PORT=str(port))
    assert {"store", "ports", "rights"} <= wrong(found["machine"])
    assert {"components", "ports", "nodes", "pods", "deletions"} <= wrong(found["ofCluster"])
    notes = one(found["ofCluster"], "nodes")["notes"]
    assert any("'node-initialize' matches 'late'" in note for note in notes)
    held = [f["what"] for f in one(found["ofCluster"], "deletions")["findings"]]
    assert [what.partition(" was deleted")[0] for what in held] == [
        "the namespace 'held'",
        "the persistentvolumeclaim 'held' in 'default'",
    ]

    cluster.run("doctor", "--fix")
    for each in HELD:
        cluster.patch(each, "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
    until("all is well", lambda: not wrong(examined(cluster)["ofCluster"]))
    assert root.stat().st_mode & 0o777 == 0o700


def damaged_store(folder: Path) -> Path:
    """Return a cache folder with one program, in which a byte is not as it was."""
    [entry, *_] = [e for e in store_of(cache_dir(), here()).entries() if e.name == "etcdutl"]
    place = store_of(folder / "kwokctl", here()).root / entry.name / entry.version
    shutil.copytree(entry.path.parent, place)
    with (place / entry.path.name).open("r+b") as program:
        program.seek(1_000)
        program.write(b"damaged")
    return folder


def examined(cluster: Installed, **settings: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        cluster.run("doctor", "-o", "json", timeout=300, **settings).out
    )
    return found


def one(checks: Sequence[Mapping[str, Any]], name: str) -> Mapping[str, Any]:
    return next(each for each in checks if each["check"] == name)


def wrong(checks: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return the names of the checks that have found something."""
    return {each["check"] for each in checks if each["findings"]}
