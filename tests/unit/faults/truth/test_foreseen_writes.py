"""What a fault will write on a node, before it is injected."""

from typing import Any

from kwokctl.faults.classes.catalogue import FaultCatalogue
from kwokctl.faults.objects.unit_rows import FaultUnit
from kwokctl.faults.overlays.definitions import definition_of, read_definition
from kwokctl.faults.overlays.fault_course import InjectedFault
from kwokctl.faults.overlays.overlay import overlay
from kwokctl.faults.truth.foreseen_writes import ForeseenWrite, foreseen_writes
from tests.support.faults import NOON, node, shipped


def foreseen(
    name: str, *dialects: str, on: Any = None, units: Any = None, **parameters: Any
) -> list[ForeseenWrite]:
    definition = read_definition(definition_of(FaultCatalogue(), name, dialects))
    fault = InjectedFault(name="f", uid="", seed=1, parameters=parameters, since=NOON)
    hit = units or [FaultUnit(node="n-0", node_uid="x", gpu=parameters.get("gpu"))]
    return foreseen_writes(on or node(), definition, fault, hit)


def changes(found: list[ForeseenWrite]) -> list[str]:
    return [change for write in found for change in write.changes]


def test_the_writes_come_at_their_times_with_values_before_and_after() -> None:
    first, second = foreseen("memory-pressure", "kubelet")[0], foreseen("gpu-missing", "aks", gpu=2)

    assert any(
        change.startswith("conditions[MemoryPressure]: none -> {") for change in first.changes
    )
    assert [write.after for write in second] == sorted(write.after for write in second)
    assert second[0].after == 0.0
    assert second[0].changes[0] == "GPU 2 is missing"
    assert 0 < second[-1].after < 60
    assert any("conditions[GPUMissing]: none" in change for change in second[-1].changes)


def test_what_is_no_field_of_the_node_is_told_when_it_begins() -> None:
    (write,) = foreseen("silent")

    assert write.changes == ("the kubelet is silent",)


def test_kernel_log_metrics_device_taints_and_followers_are_told_once() -> None:
    found = changes(foreseen("xid-79", "dra", gpu=3))

    assert found[0] == "GPU 3 is lost"
    assert sum(each.startswith("kernel log: NVRM: Xid") and ": 79," in each for each in found) == 1
    assert sum(each.startswith("taint of GPU 3 in its ResourceSlice") for each in found) == 2
    assert sum(each.startswith("xid-154 follows on GPU") for each in found) == 8
    assert any(each.startswith("metric DCGM_FI_DEV_XID_ERRORS: set") for each in found)


def test_an_event_is_told_with_the_write_that_it_belongs_to() -> None:
    found = [
        each for each in changes(foreseen("xid-79", "eks", gpu=3)) if each.startswith("Event ")
    ]

    assert [sum(f"unknown XID-{xid} " in each for each in found) for xid in (154, 45, 145)] == [
        8,
        7,
        7,
    ]
    assert len(found) == 22


def test_what_other_faults_show_is_left_out_of_account() -> None:
    broken = overlay(node(), [shipped("gpu-missing", ["aks"], gpu=0)], NOON)

    assert foreseen("gpu-missing", "aks", gpu=2, on=broken) == foreseen("gpu-missing", "aks", gpu=2)


def test_pods_of_a_node_are_hit_together() -> None:
    pods = [
        FaultUnit(node="n-0", node_uid="x", pod=f"default/{each}", pod_uid=each) for each in "ab"
    ]
    found = changes(foreseen("app-failed", units=pods))

    assert found[0] == "pods that are hit: app-container fails"
    assert sum(each.startswith("pods that are hit") for each in found) == 1


def test_a_taint_is_told_without_its_time() -> None:
    found = [each for each in changes(foreseen("maintenance", "gke")) if each.startswith("taints[")]

    assert all("timeAdded" not in each for each in found)
