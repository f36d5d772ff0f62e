"""Nodes whose kubelets are taken to be down, with the real controllers watching, on both data paths."""

import json
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.installed import Installed, condition, until

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
]
LABEL = "node-not-ready.stage.kwok.x-k8s.io"
BROKEN, SOUND = "node-000000", "node-000001"
SILENT = "kwokctl.dev/kubelet=silent"
LONG = 30
"""Seconds for which a Job runs: longer than a busy controller takes to hear of what is done to the node."""
HEARTBEAT = ("--node-heartbeat", "real")
"""Through the API server it would be five times as slow, and so would be the answer to silence."""
CLUSTERS = {
    "kubelet": ("--stage", "pod-kubelet"),
    "stages": ("--stage", "pod-general", "--data-path", "api", *HEARTBEAT),
}


@pytest.fixture(scope="module", params=CLUSTERS)
def cluster(installed: Installed, request: pytest.FixtureRequest) -> Iterator[Installed]:
    found = installed.called(f"down-{request.param}")
    words = CLUSTERS[request.param]
    usual = ("--nodes", "2", "--stage", "node-chaos", "--etcd-fsync", "off")
    found.ok("create", "cluster", "--wait", "--disable", "kube-scheduler", *usual, *words)
    until("the account for pods is there", lambda: found.objects("serviceaccounts"))
    yield found
    found.ok("delete", "cluster")


def run(cluster: Installed, name: str, node: str, *, seconds: int = 0) -> None:
    """Create a pod on a node that runs on, or a Job whose pod ends after some seconds."""
    delay = f"{seconds}s"
    words = {f"pod-complete.stage.kwok.x-k8s.io/{key}": delay for key in ("delay", "jitter-delay")}
    spec: dict[str, Any] = {"nodeName": node, "containers": [{"name": "main", "image": "x"}]}
    body: dict[str, Any] = {"apiVersion": "v1", "kind": "Pod", "spec": spec}
    if seconds:
        spec["restartPolicy"] = "Never"
        annotations = {**words, "kwokctl.dev/program": f"run={delay}"}
        template = {"metadata": {"annotations": annotations}, "spec": spec}
        body = {"apiVersion": "batch/v1", "kind": "Job", "spec": {"template": template}}
    cluster.create({**body, "metadata": {"name": name}})


def pods(cluster: Installed) -> dict[str, Any]:
    """Return the pods by their names, or by those of their Jobs."""
    return {
        (each["metadata"].get("labels") or {}).get("job-name", each["metadata"]["name"]): each
        for each in cluster.objects("pods")
    }


def clear(cluster: Installed) -> None:
    cluster.delete("jobs,pods", "--all")


def phases(cluster: Installed) -> dict[str, str]:
    return {name: each["status"]["phase"] for name, each in pods(cluster).items()}


def node(cluster: Installed, name: str = BROKEN) -> Any:
    return cluster.found("node", name)


def holder(cluster: Installed) -> str:
    """Return who holds the Lease of the broken node; empty if there is none."""
    found = cluster.objects("leases", "-n", "kube-node-lease")
    held = {each["metadata"]["name"]: each["spec"]["holderIdentity"] for each in found}
    return str(held.get(BROKEN, ""))


def test_pods_stand_still_while_a_kubelet_is_down_and_go_on_when_it_is_back(
    cluster: Installed,
) -> None:
    run(cluster, "ends", BROKEN, seconds=LONG)
    run(cluster, "deleted", BROKEN)
    until("both run", lambda: list(phases(cluster).values()) == ["Running"] * 2)
    cluster.label("node", BROKEN, f"{LABEL}=true")
    until("the node is not Ready", lambda: condition(node(cluster), "Ready") == "False")

    cluster.delete("pod", "deleted", "--wait=false")
    run(cluster, "begins", BROKEN)
    # What happens on the other node meanwhile would have happened here as well.
    run(cluster, "control", SOUND, seconds=LONG)
    until("the control has ended", lambda: phases(cluster).get("control") == "Succeeded")
    assert phases(cluster) == {
        "ends": "Running", "deleted": "Running", "begins": "Pending", "control": "Succeeded",
    }  # fmt: skip
    assert "deletionTimestamp" in pods(cluster)["deleted"]["metadata"]

    cluster.label("node", BROKEN, f"{LABEL}-")
    until("the deleted one is gone", lambda: "deleted" not in pods(cluster))
    until("one has ended", lambda: phases(cluster)["ends"] == "Succeeded")
    until("the other one runs", lambda: phases(cluster)["begins"] == "Running")
    clear(cluster)


def test_a_pod_on_a_dead_node_can_be_deleted_by_force(cluster: Installed) -> None:
    run(cluster, "forced", BROKEN)
    until("it runs", lambda: phases(cluster)["forced"] == "Running")
    cluster.label("node", BROKEN, f"{LABEL}=true")
    until("the node is not Ready", lambda: condition(node(cluster), "Ready") == "False")

    cluster.delete("pod", "forced", "--force", "--grace-period=0")
    assert "forced" not in pods(cluster)
    cluster.label("node", BROKEN, f"{LABEL}-")
    until("the node is Ready", lambda: condition(node(cluster), "Ready") == "True")


def test_scale_puts_no_running_pod_on_a_node_whose_kubelet_is_down(cluster: Installed) -> None:
    cluster.label("node", BROKEN, f"{LABEL}=true")
    until("the node is not Ready", lambda: condition(node(cluster), "Ready") == "False")
    cluster.ok("scale", "pod", "set", "--replicas", "40", "--param", f'.nodeName = "{BROKEN}"')
    run(cluster, "after", SOUND)
    until("a later one runs", lambda: phases(cluster)["after"] == "Running")
    assert set(phases(cluster).values()) == {"Pending", "Running"}

    cluster.label("node", BROKEN, f"{LABEL}-")
    until("all run", lambda: set(phases(cluster).values()) == {"Running"})
    cluster.ok("scale", "pod", "set", "--replicas", "0")
    cluster.delete("pod", "after")


def test_a_silent_node_is_back_as_soon_as_its_lease_is_given_back(cluster: Installed) -> None:
    own = holder(cluster)
    run(cluster, "ends", BROKEN, seconds=LONG)
    until("it runs", lambda: phases(cluster).get("ends") == "Running")
    taken = {"spec": {"holderIdentity": "nobody", "leaseDurationSeconds": 86400}}
    words = ("lease", "-n", "kube-node-lease", BROKEN)
    cluster.patch(*words, "--type=merge", "-p", json.dumps(taken))

    run(cluster, "control", SOUND, seconds=LONG)
    until("the control has ended", lambda: phases(cluster).get("control") == "Succeeded")
    assert phases(cluster)["ends"] == "Running"
    assert holder(cluster) == "nobody"

    cluster.delete(*words)
    until("the Lease is renewed", lambda: holder(cluster) == own)
    until("the pod has ended", lambda: phases(cluster)["ends"] == "Succeeded")
    clear(cluster)


def test_nothing_is_heard_of_a_silenced_kubelet_until_the_annotation_is_gone(
    cluster: Installed,
) -> None:
    # The node that the test before has given back bears the taint of a silent one for some seconds.
    until("the node is as always", lambda: not node(cluster)["spec"].get("taints"))
    own, before = holder(cluster), plain(node(cluster))
    assert condition(node(cluster), "Ready") == "True"
    run(cluster, "ends", BROKEN, seconds=LONG)
    run(cluster, "deleted", BROKEN)
    until("both run", lambda: list(phases(cluster).values()) == ["Running"] * 2)
    cluster.annotate("node", BROKEN, SILENT)
    run(cluster, "begins", BROKEN)
    cluster.delete("pod", "deleted", "--wait=false")

    until("the silence is noticed", lambda: condition(node(cluster), "Ready") == "Unknown")
    until("the pod is marked", lambda: condition(pods(cluster)["ends"], "Ready") == "False")
    run(cluster, "control", SOUND, seconds=LONG)
    # Neither a controller that starts anew nor a rewind gives it its voice back.
    cluster.ok("snapshot", "mark", "silence")
    os.kill(cluster.pids()["kwok-controller"], signal.SIGKILL)
    cluster.ok("start", "cluster", "--wait")
    until("the control has ended", lambda: phases(cluster).get("control") == "Succeeded")
    cluster.ok("snapshot", "rewind", "silence")
    until("the control has ended", lambda: phases(cluster).get("control") == "Succeeded")
    assert phases(cluster) == {
        "ends": "Running", "deleted": "Running", "begins": "Pending", "control": "Succeeded",
    }  # fmt: skip
    assert "deletionTimestamp" in pods(cluster)["deleted"]["metadata"]
    assert condition(node(cluster), "Ready") == "Unknown"

    cluster.annotate("node", BROKEN, "kwokctl.dev/kubelet-")
    until("the deleted one is gone", lambda: "deleted" not in pods(cluster))
    until("one has ended", lambda: phases(cluster)["ends"] == "Succeeded")
    until("the other one is Ready", lambda: condition(pods(cluster)["begins"], "Ready") == "True")
    until("the node is as before", lambda: plain(node(cluster)) == before)
    assert holder(cluster) == own
    clear(cluster)


def test_the_kubelet_of_a_silent_node_answers_nobody(cluster: Installed) -> None:
    run(cluster, "web", BROKEN)
    run(cluster, "other", SOUND)
    until("both run", lambda: list(phases(cluster).values()) == ["Running"] * 2)
    asked = {"logs": ("web",), "exec": ("web", "--", "true"), "attach": ("web",)}
    for verb, words in asked.items():
        assert "document" in tried(cluster, verb, *words)  # none says what to answer
    cluster.annotate("node", BROKEN, SILENT)
    until("it is silent", lambda: "document" not in tried(cluster, "logs", "web"))

    for verb, words in asked.items():
        said = tried(cluster, verb, *words)
        assert any(each in said for each in ("EOF", "connection reset by peer")), said
    assert "document" in tried(cluster, "logs", "other")

    cluster.annotate("node", BROKEN, "kwokctl.dev/kubelet-")
    until("it is back", lambda: "document" in tried(cluster, "logs", "web"))
    clear(cluster)


def tried(cluster: Installed, *words: str) -> str:
    """Run a kubectl that may fail; return what it says."""
    done = cluster.run("kubectl", *words)
    return done.out + done.err


def plain(body: Any) -> Any:
    """Return what a node says of itself, without times."""
    times = {"lastHeartbeatTime", "lastTransitionTime"}
    status = body["status"]
    conditions = sorted(
        [sorted((k, v) for k, v in each.items() if k not in times) for each in status["conditions"]]
    )
    return body["spec"], {**status, "conditions": conditions}


def test_pressure_is_a_condition_and_a_taint_as_long_as_the_annotation_is_there(
    cluster: Installed,
) -> None:
    def taints() -> set[str]:
        return {each["key"] for each in node(cluster)["spec"].get("taints") or ()}

    cluster.annotate("node", BROKEN, "kwokctl.dev/pressure=memory")
    until("it is a taint", lambda: "node.kubernetes.io/memory-pressure" in taints())
    assert condition(node(cluster), "MemoryPressure") == "True"

    cluster.annotate("node", BROKEN, "kwokctl.dev/pressure-")
    until("the taint is gone", lambda: "node.kubernetes.io/memory-pressure" not in taints())
    assert condition(node(cluster), "MemoryPressure") == "False"


def test_another_boot_id_is_a_reboot(cluster: Installed) -> None:
    run(cluster, "again", BROKEN)
    until("it runs", lambda: phases(cluster)["again"] == "Running")
    run(cluster, "control", SOUND, seconds=1)
    until("a second has passed", lambda: phases(cluster).get("control") == "Succeeded")
    status = {"status": {"nodeInfo": {"bootID": "4c1b8e6f-another"}}}
    words = ("node", BROKEN, "--subresource=status", "-p", json.dumps(status))
    cluster.patch(*words)

    def container() -> Any:
        return pods(cluster)["again"]["status"]["containerStatuses"][0]

    until("its container was started again", lambda: container()["restartCount"] == 1)
    assert container()["lastState"]["terminated"]["reason"] == "Unknown"
    until("it runs", lambda: "running" in container()["state"])

    def reports() -> list[str]:
        events = cluster.objects("events")
        return [each["message"] for each in events if each["reason"] == "Rebooted"]

    until("the kubelet says so", reports)
    assert reports() == [f"Node {BROKEN} has been rebooted, boot id: 4c1b8e6f-another"]
