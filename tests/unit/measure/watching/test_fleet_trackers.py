"""What trackers write of nodes, of what pods of before request, and of what interrupts pods."""

from typing import Any

import msgspec
import pytest

from kwokctl.fleet.devices import GPU, gpu_uuid
from kwokctl.measure.record.fleet_lines import (
    NodeChange,
    NodeGone,
    NodeSeen,
    OtherRequests,
    PodInterruption,
)
from kwokctl.measure.record.record_lines import Lines, PodSeen, PodShape, RecordText
from kwokctl.measure.watching.nodes import NodeTracker
from kwokctl.measure.watching.numbered_texts import Texts
from kwokctl.measure.watching.pods import PodTracker
from kwokctl.measure.watching.recorder import Tracker


class Written:
    """A tracker, and the lines that it writes."""

    def __init__(self, *, of_nodes: bool) -> None:
        self.lines: list[Lines] = []
        self.texts: dict[int, str] = {0: ""}
        texts = Texts(self._emit)
        pods = PodTracker(self._emit, texts, labels=(), takes_existing=False)
        nodes = NodeTracker(self._emit, texts, labels=("zone", "rack"))
        self.tracker: Tracker = nodes if of_nodes else pods

    def _emit(self, line: Lines) -> None:
        if isinstance(line, RecordText):
            self.texts[line.number] = line.text
        else:
            self.lines.append(line)

    def see(self, value: dict[str, Any], time: int, *, listed: bool = False) -> None:
        raw = msgspec.json.encode(value)
        self.tracker.see(self.tracker.decode(raw), raw, time, listed=listed)

    def take(self) -> list[Lines]:
        taken, self.lines[:] = list(self.lines), []
        return taken


def node(name: str, *, ready: str = "True", version: int = 1, **fields: Any) -> dict[str, Any]:
    named = {"name": name, "uid": f"uid-{name}", "resourceVersion": str(version)}
    heard = {
        "type": "Ready",
        "status": ready,
        "lastHeartbeatTime": f"2026-01-02T03:04:{version:02}Z",
    }
    allocatable = {"cpu": "95690m", "memory": "1Gi", "nvidia.com/gpu": "8", "pods": "110"}
    return {
        "metadata": named | {"labels": fields.get("labels", {})},
        "spec": fields.get("spec", {}),
        "status": {
            "allocatable": fields.get("allocatable", allocatable),
            "conditions": [{"type": "DiskPressure", "status": "False"}, heard],
        },
    }


def test_a_node_is_written_once_and_then_what_changes_of_it() -> None:
    written = Written(of_nodes=True)
    written.see(node("n1", labels={"rack": "r1", "other": "x"}), 1, listed=True)
    written.tracker.begin()
    written.see(node("n2", ready="Unknown"), 2)
    tainted = {"unschedulable": True, "taints": [
        {"key": "b", "effect": "NoSchedule"}, {"key": "a", "value": "1", "effect": "NoExecute"},
    ]}  # fmt: skip
    written.see(node("n2", spec=tainted, labels={"zone": "z", "rack": "r"}), 3)
    written.tracker.gone("uid-n2", 4)

    assert written.lines == [
        NodeSeen(1, 1, "n1", True, 1, 2, 0, True, False, 0, 3),
        NodeSeen(2, 2, "n2", False, 1, 0, 0, False, False, 0, 4),
        NodeChange(3, 2, 1, 5, 6, True, True, 3),
        NodeGone(4, 2),
    ]
    assert written.texts == {
        0: "",
        1: "cpu=95690m,memory=1Gi,nvidia.com/gpu=8,pods=110",
        2: "rack=r1",
        3: "DiskPressure=False,Ready=True",
        4: "DiskPressure=False,Ready=Unknown",
        5: "rack=r,zone=z",
        6: "a=1:NoExecute,b:NoSchedule",
    }


def test_a_heartbeat_writes_no_line() -> None:
    written = Written(of_nodes=True)
    written.see(node("n1"), 1)
    written.take()

    written.see(node("n1", version=2), 2)
    written.see(node("n1", version=3, labels={"other": "x"}), 3)

    assert written.take() == []
    written.see(node("n1", version=4, allocatable={"nvidia.com/gpu": "7"}), 4)
    assert [type(line) for line in written.take()] == [NodeChange]


def test_a_node_without_conditions_is_not_ready_and_one_without_allocatable_has_nothing() -> None:
    written = Written(of_nodes=True)

    written.see({"metadata": {"name": "n1", "uid": "u"}}, 1)

    assert written.lines == [NodeSeen(1, 1, "n1", True, 0, 0, 0, False, False)]


def pod(name: str, node: str = "", phase: str = "Running", **status: Any) -> dict[str, Any]:
    named = {"name": name, "namespace": "default", "uid": f"uid-{name}"}
    container = {"name": "x", "resources": {"requests": {"cpu": "500m", "nvidia.com/gpu": "2"}}}
    spec = {"containers": [container]} | ({"nodeName": node} if node else {})
    return {"metadata": named, "spec": spec, "status": {"phase": phase} | status}


def test_what_pods_of_before_request_is_written_when_the_run_begins_and_when_it_changes() -> None:
    written = Written(of_nodes=False)
    for name, at in (("a", "n1"), ("b", "n1"), ("c", "n2"), ("d", "")):
        written.see(pod(name, at), 1, listed=True)
    written.see(pod("over", "n2", phase="Succeeded"), 2, listed=True)
    assert written.take() == []

    written.tracker.begin()

    taken, one = "cpu=1,nvidia.com/gpu=4", "cpu=500m,nvidia.com/gpu=2"
    assert written.take() == [OtherRequests(2, "n1", 2, 1, 2), OtherRequests(2, "n2", 1, 2, 1)]
    assert (written.texts[1], written.texts[2]) == (taken, one)
    written.see(pod("a", "n1", phase="Failed"), 3)
    written.see(pod("d", "n2"), 4)
    written.tracker.gone("uid-c", 5)
    written.tracker.gone("uid-a", 6)
    written.tracker.gone("uid-d", 7)
    assert written.take() == [
        OtherRequests(3, "n1", 1, 2, 1),
        OtherRequests(4, "n2", 2, 1, 2),
        OtherRequests(5, "n2", 1, 2, 1),
        OtherRequests(7, "n2", 0, 0, 0),
    ]


def container(count: int, reason: str = "", name: str = "x") -> dict[str, Any]:
    last = {"terminated": {"reason": reason, "exitCode": 1}} if reason else {}
    return {"name": name, "restartCount": count, "lastState": last}


def interruptions(written: Written) -> list[tuple[int, int, int, str]]:
    """Return the time, the number of the pod, the restarts and the reason of each."""
    return [
        (line.time, line.number, line.restarts, written.texts[line.reason])
        for line in written.take()
        if isinstance(line, PodInterruption)
    ]


def test_restarts_are_counted_with_the_reasons_of_the_ends_before() -> None:
    written = Written(of_nodes=False)
    written.tracker.begin()
    written.see(pod("a", "n1", containerStatuses=[container(0), container(0, name="y")]), 1)
    assert interruptions(written) == []

    both = [container(1, "OOMKilled"), container(2, "Error", name="y")]
    written.see(pod("a", "n1", containerStatuses=both), 2)
    written.see(pod("a", "n1", containerStatuses=both), 3)
    again = [container(1, "OOMKilled"), container(3, name="y")]
    first = [container(1, "Error", name="init")]
    written.see(pod("a", "n1", containerStatuses=again, initContainerStatuses=first), 4)

    assert interruptions(written) == [
        (2, 1, 1, "OOMKilled"), (2, 1, 2, "Error"), (4, 1, 1, "unknown"), (4, 1, 1, "Error"),
    ]  # fmt: skip


def target(reason: str, status: str = "True") -> dict[str, Any]:
    return {"conditions": [{"type": "DisruptionTarget", "status": status, "reason": reason}]}


def test_why_a_pod_ends_before_its_time_is_written_once() -> None:
    written = Written(of_nodes=False)
    written.tracker.begin()
    written.see(pod("a", "n1"), 1)
    written.see(pod("a", "n1", **target("PreemptionByScheduler", "False")), 2)
    written.see(pod("a", "n1", **target("PreemptionByScheduler")), 3)
    written.see(pod("a", "n1", "Failed", reason="Late", **target("PreemptionByScheduler")), 4)
    written.see(pod("b", "n1", "Failed", reason="Evicted", **target("TerminationByKubelet")), 5)
    written.see(pod("c", "n1", "Failed", reason="OutOfcpu"), 6)

    assert interruptions(written) == [
        (3, 1, 0, "PreemptionByScheduler"),
        (5, 2, 0, "TerminationByKubelet Evicted"),
        (6, 3, 0, "OutOfcpu"),
    ]


@pytest.mark.parametrize(
    ("fields", "devices"),
    [
        ({}, "none"),
        ({"limits": {"cpu": "1"}}, "none"),
        ({"limits": {GPU: "2"}}, ""),
        ({"limits": {GPU: "2"}, "has": ["GPU-b", "GPU-a"]}, "GPU-a,GPU-b"),
        ({"limits": {GPU: "1"}, "annotated": ["GPU-c"]}, "GPU-c"),
        ({"claims": [{"name": "gpus"}]}, ""),
        ({"claims": [{"name": "gpus"}], "claimed": "gpu-3"}, gpu_uuid("n1", 3)),
    ],
)
def test_an_evicted_pod_says_which_devices_it_had(fields: dict[str, Any], devices: str) -> None:
    written = Written(of_nodes=False)
    written.tracker.begin()
    written.see(with_devices("EvictionByEvictionAPI", **fields), 3)
    preempted = Written(of_nodes=False)
    preempted.tracker.begin()
    preempted.see(with_devices("PreemptionByScheduler", **fields), 3)

    assert [written.texts[each.devices] for each in ended(written)] == [devices]
    assert [each.devices for each in ended(preempted)] == [0]


def ended(written: Written) -> list[PodInterruption]:
    return [each for each in written.lines if isinstance(each, PodInterruption)]


def with_devices(
    reason: str,
    *,
    limits: dict[str, str] | None = None,
    has: list[str] | None = None,
    annotated: list[str] | None = None,
    claims: list[dict[str, str]] | None = None,
    claimed: str = "",
) -> dict[str, Any]:
    """Return a pod that is to end and asks for devices, with those that its status, or its annotation, has."""
    resources = {GPU: has or []} | (
        {"claim:gpus": [f"gpu.nvidia.com/n1/{claimed}"]} if claimed else {}
    )
    allocated = [
        {"name": name, "resources": [{"resourceID": each} for each in ids]}
        for name, ids in resources.items()
    ]
    found = pod("a", "n1", **target(reason))
    found["status"]["containerStatuses"] = [{"name": "x", "allocatedResourcesStatus": allocated}]
    found["spec"]["containers"] = [
        {"name": "x", "resources": {"limits": limits, "requests": limits}}
    ]
    found["spec"]["resourceClaims"] = claims
    if annotated:
        text = msgspec.json.encode({"x": {GPU: annotated}}).decode()
        found["metadata"]["annotations"] = {"kwokctl.dev/devices": text}
    return found


def test_a_pod_that_has_ended_is_not_interrupted_any_more() -> None:
    written = Written(of_nodes=False)
    written.see(pod("old", "n1", "Failed"), 1, listed=True)
    written.tracker.begin()
    written.see(pod("new", "n1", "Succeeded"), 2)
    for name, phase in (("old", "Failed"), ("new", "Succeeded")):
        written.see(pod(name, "n1", phase, **target("EvictionByEvictionAPI")), 3)

    assert interruptions(written) == []


def test_a_pod_of_before_is_interrupted_too_and_what_happened_before_does_not_count() -> None:
    written = Written(of_nodes=False)
    old = [container(3, "Error")]
    written.see(pod("a", "n1", containerStatuses=old), 1, listed=True)
    written.see(pod("b", "n1", **target("EvictionByEvictionAPI")), 1, listed=True)
    written.tracker.begin()
    written.see(pod("a", "n1", containerStatuses=[container(4, "OOMKilled")]), 2)
    written.see(pod("a", "n1", containerStatuses=old, **target("PreemptionByScheduler")), 3)
    written.see(pod("b", "n1", **target("EvictionByEvictionAPI")), 4)

    assert interruptions(written) == [(2, 0, 1, "OOMKilled"), (3, 0, 0, "PreemptionByScheduler")]


def test_a_pod_that_appears_in_a_second_list_was_interrupted_before() -> None:
    written = Written(of_nodes=False)
    written.tracker.begin()

    written.see(pod("a", "n1", containerStatuses=[container(2)]), 1, listed=True)

    assert [type(line) for line in written.take()] == [PodShape, PodSeen]
