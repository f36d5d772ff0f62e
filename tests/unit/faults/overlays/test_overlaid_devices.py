"""What faults show of devices, and what messages say of them."""

from typing import Any

import pytest

from kwokctl.faults.classes.class_schema import FaultSignal
from kwokctl.faults.overlays.overlay import overlay
from kwokctl.fleet.device_health import DEVICE_HEALTH, DEVICE_INVENTORY, report_of
from tests.support.faults import NOON, fault, node, shipped
from tests.support.overlaid import LATER, of_type, says

GPU = "nvidia.com/gpu"


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
