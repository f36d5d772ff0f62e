"""Pods that follow the rules of a kubelet, in a real cluster."""

from typing import Any

import pytest

from tests.support.installed import Installed, until

pytestmark = [pytest.mark.e2e, pytest.mark.components, pytest.mark.story]

CRASHING: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "crash", "annotations": {"kwokctl.dev/program": "run=1s exit=3"}},
    "spec": {"containers": [{"name": "main", "image": "nginx"}]},
}
JOB: dict[str, Any] = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "job"},
    "spec": {
        "template": {
            "spec": {
                "restartPolicy": "Never",
                "initContainers": [
                    {"name": "side", "image": "x", "restartPolicy": "Always"},
                    {"name": "prepare", "image": "x", "command": ["sleep", "1"]},
                ],
                "containers": [{"name": "main", "image": "x", "command": ["sleep", "2"]}],
            }
        }
    },
}


@pytest.fixture(scope="module")
def cluster(with_schedulers: Installed) -> Installed:
    with_schedulers.ok("scale", "node", "--replicas", "2", "--wait")
    return with_schedulers


def test_pods_run_end_and_crash_as_on_a_kubelet(cluster: Installed) -> None:
    for body in (CRASHING, JOB):
        cluster.apply(body)

    until("the Job is complete", lambda: "succeeded" in cluster.objects("jobs")[0]["status"])
    [pod] = cluster.objects("pods", "--selector", "job-name=job")
    ends = {
        each["name"]: each["state"]["terminated"]["exitCode"]
        for part in ("initContainerStatuses", "containerStatuses")
        for each in pod["status"][part]
    }
    assert ends == {"side": 0, "prepare": 0, "main": 0}
    assert pod["status"]["phase"] == "Succeeded"


def test_a_crashing_pod_is_restarted_and_says_so(cluster: Installed) -> None:
    def restarts() -> int:
        [container] = _crashing(cluster)["containerStatuses"]
        return int(container["restartCount"])

    until("it has been restarted twice", lambda: restarts() >= 2)
    [container] = _crashing(cluster)["containerStatuses"]
    assert container["lastState"]["terminated"]["exitCode"] == 3
    until("its back-off is an Event", lambda: "BackOff" in _reasons(cluster))


def test_a_pod_is_deleted_whatever_its_containers_do(cluster: Installed) -> None:
    cluster.delete("pod", "crash")

    assert [each["metadata"]["name"][:3] for each in cluster.objects("pods")] == ["job"]


def test_an_annotation_leaves_a_pod_to_the_stages_beside_it(cluster: Installed) -> None:
    cluster.run_pod("left", labels={"pod-container-running-failed.stage.kwok.x-k8s.io": "true"})
    until("it runs as on a kubelet", lambda: _status(cluster, "left")["phase"] == "Running")
    cluster.annotate("pod", "left", "kwokctl.dev/life=stages")

    until("a Stage has failed it", lambda: _status(cluster, "left")["phase"] == "Failed")
    [container] = _status(cluster, "left")["containerStatuses"]
    assert container["state"]["terminated"]["reason"] == "containerFailed"
    cluster.delete("pod", "left", "--force", "--grace-period=0")


def test_a_node_refuses_what_it_has_no_room_for_and_evicts_under_pressure(
    cluster: Installed,
) -> None:
    node = cluster.objects("nodes")[0]["metadata"]["name"]
    container = {"name": "main", "image": "x"}
    large = {**container, "resources": {"requests": {"cpu": "1k"}}}
    for name, each in (("small", container), ("large", large)):
        spec = {"nodeName": node, "containers": [each]}
        meta = {"name": name, "annotations": {"kwokctl.dev/program": "stop=1h"}}
        body = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}
        cluster.apply(body)

    until("one is refused", lambda: _reason(cluster, "large") == "OutOfcpu")
    cluster.annotate("node", node, "kwokctl.dev/pressure=memory")
    until("the other one is evicted", lambda: _reason(cluster, "small") == "Evicted")


def _status(cluster: Installed, name: str) -> Any:
    return cluster.found("pod", name)["status"]


def _reason(cluster: Installed, name: str) -> Any:
    return _status(cluster, name).get("reason")


def _crashing(cluster: Installed) -> Any:
    [pod] = [e for e in cluster.objects("pods") if e["metadata"]["name"] == "crash"]
    return pod["status"]


def _reasons(cluster: Installed) -> set[str]:
    return {
        each["reason"]
        for each in cluster.objects("events")
        if each["involvedObject"]["name"] == "crash"
    }
