"""What open faults show on a node, and what is left of them."""

import copy
import json
from typing import Any

import pytest

from kwokctl.faults.class_schema import FaultCondition, FaultSignal, FaultTaint
from kwokctl.faults.journal import JOURNAL
from kwokctl.faults.overlay import overlay
from kwokctl.fleet.device_health import DEVICE_HEALTH, DEVICE_INVENTORY, report_of
from tests.support.faults import NOON, condition, dialect, fault, node, shipped

LATER, LATEST = NOON + 60, NOON + 120
GPU = "nvidia.com/gpu"


def says(
    kind: str, status: Any = None, *, reason: str = "Bad", message: str = "bad"
) -> FaultSignal:
    return FaultSignal(
        conditions=(FaultCondition(type=kind, status=status, reason=reason, message=message),)
    )


def taints(key: str, effect: Any = "NoSchedule", *, value: str = "") -> FaultSignal:
    return FaultSignal(taints=(FaultTaint(key=key, value=value, effect=effect),))


def of_type(found: Any, kind: str) -> Any:
    return next((each for each in found["status"]["conditions"] if each["type"] == kind), None)


def edited(found: Any, **status: Any) -> Any:
    """Return a copy of a node in which a client has replaced fields of the status."""
    return {**found, "status": {**found["status"], **status}}


def relabelled(found: Any, **labels: str) -> Any:
    metadata = found["metadata"]
    return {**found, "metadata": {**metadata, "labels": {**metadata["labels"], **labels}}}


def tainted(found: Any, *own: dict[str, str]) -> Any:
    return {**found, "spec": {"taints": [*own]}}


def test_a_node_without_faults_is_returned_itself() -> None:
    found = node()

    assert overlay(found, [], NOON) is found


def test_a_given_node_is_not_changed() -> None:
    found = node()
    before = copy.deepcopy(found)
    shown = overlay(found, [shipped("gpu-missing", ["aks", "device-plugin"])], NOON)
    at_first = copy.deepcopy(shown)
    overlay(shown, [], LATER)

    assert found == before
    assert shown == at_first


def test_a_condition_is_shown_with_what_lies_beneath_in_the_journal() -> None:
    shown = overlay(node(), [fault(says("Ready", "False"))], NOON)

    assert of_type(shown, "Ready") == {
        "type": "Ready",
        "status": "False",
        "reason": "Bad",
        "message": "bad",
        "lastHeartbeatTime": "2026-01-01T12:00:00Z",
        "lastTransitionTime": "2026-01-01T12:00:00Z",
    }
    assert json.loads(shown["metadata"]["annotations"][JOURNAL]) == {
        "conditions": {
            "Ready": [
                {"status": "True", "reason": "KubeletReady", "message": "fine"},
                {"status": "False", "reason": "Bad", "message": "bad"},
            ]
        }
    }


def test_clearing_gives_back_the_words_and_moves_the_time_with_the_status() -> None:
    shown = overlay(node(), [fault(says("Ready", "False"))], NOON)
    cleared = overlay(shown, [], LATER)

    assert of_type(cleared, "Ready") == {
        **condition("Ready", "True", "KubeletReady", "fine"),
        "lastHeartbeatTime": "2026-01-01T12:01:00Z",
        "lastTransitionTime": "2026-01-01T12:01:00Z",
    }
    assert "annotations" not in cleared["metadata"]


def test_the_time_stays_where_the_status_does() -> None:
    """Both with a fault that only says why, and afterwards."""
    beneath = node(condition("KernelDeadlock", "True", "DockerHung", "hung"))
    shown = overlay(beneath, [fault(says("KernelDeadlock"))], NOON)
    cleared = overlay(shown, [], LATER)

    for each in (shown, cleared):
        assert of_type(each, "KernelDeadlock")["lastTransitionTime"] == "2026-01-01T00:00:00Z"
    assert of_type(shown, "KernelDeadlock")["reason"] == "Bad"
    assert of_type(cleared, "KernelDeadlock")["reason"] == "DockerHung"


def test_a_condition_without_a_message_gets_none_from_a_fault() -> None:
    beneath = node()
    del beneath["status"]["conditions"][0]["message"]
    shown = overlay(beneath, [fault(says("Ready", "True"))], NOON)
    cleared = of_type(overlay(shown, [], LATER), "Ready")

    assert "message" not in cleared
    assert cleared["reason"] == "KubeletReady"


def test_a_condition_that_is_new_comes_last_and_goes_again() -> None:
    beneath = node()
    shown = overlay(beneath, [fault(says("GpuXid"))], NOON)

    assert [each["type"] for each in shown["status"]["conditions"]] == ["Ready", "GpuXid"]
    assert of_type(shown, "GpuXid")["status"] == "True"
    assert overlay(shown, [], LATER) == beneath


def test_nothing_is_written_twice() -> None:
    faults = [shipped("gpu-missing", ["aks", "eks", "device-plugin"]), fault(taints("bad"))]
    shown = overlay(node(), faults, NOON)

    assert overlay(shown, faults, LATER) == shown


def test_a_heartbeat_of_what_is_shown_changes_nothing_beneath() -> None:
    faults = [fault(says("Ready", "False"))]
    shown = overlay(node(), faults, NOON)
    beating = {**of_type(shown, "Ready"), "lastHeartbeatTime": "2026-01-01T12:00:30Z"}
    again = overlay(edited(shown, conditions=[beating]), faults, LATER)

    assert of_type(again, "Ready") == beating
    assert of_type(overlay(again, [], LATEST), "Ready")["reason"] == "KubeletReady"


def test_a_write_beneath_a_fault_is_kept_for_afterwards() -> None:
    faults = [fault(says("Ready", "False"))]
    shown = overlay(node(), faults, NOON)
    other = condition("Ready", "Unknown", "NodeStatusUnknown", "silent")
    again = overlay(edited(shown, conditions=[other]), faults, LATER)
    cleared = overlay(again, [], LATEST)

    assert of_type(again, "Ready")["reason"] == "Bad"
    assert of_type(again, "Ready")["lastTransitionTime"] == "2026-01-01T12:01:00Z"
    assert of_type(cleared, "Ready")["reason"] == "NodeStatusUnknown"


def test_a_shown_condition_that_a_client_removed_is_shown_again_and_then_goes() -> None:
    faults = [fault(says("Ready", "False"))]
    shown = overlay(node(), faults, NOON)
    again = overlay(edited(shown, conditions=[]), faults, LATER)

    assert of_type(again, "Ready")["status"] == "False"
    assert "conditions" not in overlay(again, [], LATEST)["status"]


def test_of_two_faults_the_later_is_seen_and_each_is_cleared_alone() -> None:
    first, second = fault(says("X", reason="First")), fault(says("X", reason="Second"))
    shown = overlay(node(), [first, second], NOON)

    assert of_type(shown, "X")["reason"] == "Second"
    assert of_type(overlay(shown, [first], LATER), "X")["reason"] == "First"
    assert of_type(overlay(shown, [second], LATER), "X")["reason"] == "Second"
    assert overlay(overlay(shown, [first], LATER), [], LATEST) == node()


def test_an_agent_that_collects_messages_keeps_those_before() -> None:
    collecting = dialect(separator="; ")
    faults = [
        fault(says("X", reason=text, message=text), of=collecting)
        for text in ("a", "b", "a; b", "c")
    ]
    shown = of_type(overlay(node(), faults, NOON), "X")

    assert (shown["reason"], shown["message"]) == ("c", "a; b; c")


def test_messages_of_another_status_are_not_collected() -> None:
    collecting = dialect(separator="; ")
    faults = [
        fault(says("X", "True", message="a"), of=collecting),
        fault(says("X", "False", message="b"), of=collecting),
    ]

    assert of_type(overlay(node(), faults, NOON), "X")["message"] == "b"


def test_without_a_separator_the_last_message_stands_alone() -> None:
    faults = [fault(says("X", message="a")), fault(says("X", message="b"))]

    assert of_type(overlay(node(), faults, NOON), "X")["message"] == "b"


def test_a_message_is_cut_where_the_agent_cuts_it() -> None:
    shown = overlay(
        node(), [fault(says("X", message="a" * 90), of=dialect(longest_message=80))], NOON
    )

    assert of_type(shown, "X")["message"] == "a" * 80


def test_a_taint_has_the_time_since_when_it_is_there() -> None:
    faults = [fault(taints("bad", value="yes"))]
    shown = overlay(node(), faults, NOON)
    again = overlay(shown, [*faults, fault(says("X"))], LATER)

    expected = {
        "key": "bad", "value": "yes", "effect": "NoSchedule", "timeAdded": "2026-01-01T12:00:00Z",
    }  # fmt: skip
    assert shown["spec"]["taints"] == again["spec"]["taints"] == [expected]
    assert overlay(again, [], LATEST) == node()


def test_a_taint_without_a_value_has_none() -> None:
    shown = overlay(node(), [fault(taints("bad"))], NOON)

    assert "value" not in shown["spec"]["taints"][0]


def test_a_taint_with_another_value_has_a_time_of_its_own() -> None:
    shown = overlay(node(), [fault(taints("bad", value="a"))], NOON)
    again = overlay(shown, [fault(taints("bad", value="b"))], LATER)

    (taint,) = again["spec"]["taints"]
    assert (taint["value"], taint["timeAdded"]) == ("b", "2026-01-01T12:01:00Z")


def test_a_taint_of_somebody_else_is_left_alone() -> None:
    own = {"key": "bad", "effect": "NoSchedule", "value": "mine"}
    beneath = tainted(node(), own)
    faults = [fault(taints("bad", value="fault"))]
    shown = overlay(beneath, faults, NOON)

    assert shown == beneath
    assert overlay(shown, [], LATER) == beneath


def test_a_taint_that_a_client_put_in_place_of_a_faults_is_the_clients() -> None:
    faults = [fault(taints("bad"))]
    shown = overlay(node(), faults, NOON)
    own = {"key": "bad", "effect": "NoSchedule", "timeAdded": "2026-01-01T12:00:30Z"}
    again = overlay(tainted(shown, own), faults, LATER)

    assert again["spec"]["taints"] == [own]
    assert overlay(again, [], LATEST)["spec"]["taints"] == [own]


def test_taints_of_one_key_with_other_effects_are_different_ones() -> None:
    own = {"key": "bad", "effect": "NoExecute"}
    shown = overlay(tainted(node(), own), [fault(taints("bad"))], NOON)

    assert [each["effect"] for each in shown["spec"]["taints"]] == ["NoExecute", "NoSchedule"]
    assert overlay(shown, [], LATER)["spec"]["taints"] == [own]


def test_labels_and_annotations_are_put_back() -> None:
    signal = FaultSignal(labels={"a": "1", "b": "2"}, annotations={"c": "{{.gpu}}"})
    beneath = node(labels={"a": "own"})
    shown = overlay(beneath, [fault(signal, gpu=3)], NOON)

    assert shown["metadata"]["labels"]["a"] == "1"
    assert shown["metadata"]["labels"]["b"] == "2"
    assert shown["metadata"]["annotations"]["c"] == "3"
    assert overlay(shown, [], LATER) == beneath


def test_a_clients_own_label_meanwhile_is_kept() -> None:
    faults = [fault(FaultSignal(labels={"a": "1"}))]
    shown = overlay(node(), faults, NOON)
    again = overlay(relabelled(shown, a="mine", other="too"), faults, LATER)
    cleared = overlay(again, [], LATEST)

    assert again["metadata"]["labels"]["a"] == "1"
    assert cleared["metadata"]["labels"]["a"] == "mine"
    assert cleared["metadata"]["labels"]["other"] == "too"


def test_a_field_that_is_as_a_fault_shows_it_anyway_is_in_no_journal() -> None:
    beneath = node(labels={"a": "1"})
    shown = overlay(beneath, [fault(FaultSignal(labels={"a": "1"}))], NOON)

    assert shown == beneath


@pytest.mark.parametrize(
    ("states", "words", "capacity", "allocatable"),
    [
        ([("unhealthy", 0)], "unhealthy=0", 8, 7),
        ([("missing", 0)], "missing=0", 7, 7),
        ([("unhealthy", 0), ("unhealthy", 0)], "unhealthy=0", 8, 7),
        ([("unhealthy", 0), ("missing", 0)], "unhealthy=0 missing=0", 7, 7),
        ([("unhealthy", 3), ("unhealthy", 0), ("missing", 1)], "unhealthy=0,3 missing=1", 7, 5),
        ([("plugin-gone", None)], "gone=nvidia.com/gpu", 8, 0),
        ([("plugin-gone", None), ("missing", 1)], "missing=1 gone=nvidia.com/gpu", 8, 0),
        ([("unhealthy", None)], "", 8, 8),
    ],
)
def test_devices_at_fault_are_words_by_which_the_controller_counts(
    states: Any, words: str, capacity: int, allocatable: int
) -> None:
    faults = [fault(FaultSignal(devices=state), gpu=gpu) for state, gpu in states]
    shown = overlay(node(), faults, NOON)
    report = report_of(shown, {GPU: 8}, NOON)

    assert shown["metadata"]["annotations"][DEVICE_HEALTH] == words
    assert ((report.capacity[GPU], report.allocatable[GPU]) if report else (8, 8)) == (
        capacity, allocatable,
    )  # fmt: skip
    assert overlay(shown, faults, LATER) == shown
    assert overlay(shown, [], LATER) == node()


@pytest.mark.parametrize(
    ("own", "words"),
    [
        ("unhealthy=5 missing=rdma/ib:1", "unhealthy=5,0 missing=rdma/ib:1"),
        ("unhealthy=0", "unhealthy=0"),
        ("gone=rdma/ib delay=1m", "unhealthy=0 gone=rdma/ib delay=1m0s"),
        ("not readable", "unhealthy=0"),
    ],
)
def test_words_that_somebody_else_has_written_are_kept(own: str, words: str) -> None:
    beneath = annotated(node(), own)
    shown = overlay(beneath, [fault(FaultSignal(devices="unhealthy"), gpu=0)], NOON)

    assert shown["metadata"]["annotations"][DEVICE_HEALTH] == words
    assert overlay(shown, [], LATER) == beneath


def annotated(found: Any, health: str) -> Any:
    metadata = found["metadata"]
    annotations = {**metadata.get("annotations", {}), DEVICE_HEALTH: health}
    return {**found, "metadata": {**metadata, "annotations": annotations}}


def test_a_fault_without_a_device_writes_no_words() -> None:
    beneath = annotated(node(), "unhealthy=3,3")

    assert (
        overlay(
            beneath, [fault(says("Ready", "True", reason="KubeletReady", message="fine"))], NOON
        )
        == beneath
    )


def test_facts_of_the_node_are_those_beneath() -> None:
    relabelling = fault(FaultSignal(labels={"nvidia.com/gpu.count": "7"}))
    faults = [relabelling, fault(says("X", message="{{.gpus}}"))]
    shown = overlay(node(), faults, NOON)

    assert of_type(shown, "X")["message"] == "8"
    assert overlay(shown, faults, LATER) == shown


def test_gpus_that_the_controller_took_from_the_capacity_are_counted_in_messages() -> None:
    beneath = node()
    beneath["metadata"]["labels"] = {}
    faults = [shipped("gpu-missing", ["aks", "device-plugin"], gpu=7)]
    shown = overlay(beneath, faults, NOON)
    report = report_of(shown, {GPU: 8}, NOON)
    assert report is not None
    annotations = {**shown["metadata"]["annotations"], DEVICE_INVENTORY: report.inventory}
    reported = {
        **shown,
        "metadata": {**shown["metadata"], "annotations": annotations},
        "status": {**shown["status"], "capacity": {GPU: "7"}},
    }

    assert overlay(reported, faults, LATER) == reported


def test_a_message_counts_the_gpus_that_are_missing_by_then() -> None:
    faults = [shipped("gpu-missing", ["aks"], gpu=gpu) for gpu in (1, 2)]
    shown = overlay(node(), faults, NOON)
    alone = overlay(shown, faults[1:], LATER)

    assert of_type(shown, "GPUMissing")["message"].startswith("Expected to see 8 GPUs but found 6.")
    assert of_type(alone, "GPUMissing")["message"].startswith("Expected to see 8 GPUs but found 7.")


def test_an_unhealthy_gpu_is_not_missing_in_messages() -> None:
    count = fault(says("X", message="{{.found}}"))
    faults = [fault(FaultSignal(devices="unhealthy"), device="unhealthy", gpu=0), count]

    assert of_type(overlay(node(), faults, NOON), "X")["message"] == "8"


def test_messages_name_the_gpu_that_is_hit() -> None:
    shown = overlay(node(), [shipped("xid-79", ["nvsentinel"], gpu=3)], NOON)

    assert of_type(shown, "SysLogsXIDError")["message"].startswith(
        "ErrorCode:79 GPU:3 PCI:0000:61:00 GPU_UUID:GPU-"
    )


def test_polarity_is_that_of_the_dialect() -> None:
    shown = overlay(node(), [shipped("xid-79", ["eks", "azurehpc"])], NOON)

    assert of_type(shown, "AcceleratedHardwareReady")["status"] == "False"
    assert of_type(shown, "GpuXid")["status"] == "True"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"conditions": 1}', '{"other": {}}'])
def test_an_annotation_that_is_no_journal_counts_as_none(text: str) -> None:
    beneath = node()
    beneath["metadata"]["annotations"] = {JOURNAL: text}
    faults = [fault(FaultSignal(labels={"a": "1"}))]
    shown = overlay(beneath, faults, NOON)

    assert shown["metadata"]["labels"]["a"] == "1"
    assert overlay(shown, [], LATER) == node()
