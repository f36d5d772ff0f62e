"""Parts of GPUs in ResourceSlices, in a real cluster: allocated by the scheduler, one pool of several slices under faults."""

from typing import Any

import pytest

from kwokctl.faults.classes.class_schema import DeviceTaint
from kwokctl.faults.overlays.open_entries import OpenEntry
from tests.support import entry_faults
from tests.support.installed import Installed, until

pytestmark = [pytest.mark.components, pytest.mark.e2e]

NODE = "dgx-h100-000000"
PARTS = 26
"""Devices of one GPU: itself, and the parts that there may be of it."""


@pytest.fixture(scope="module")
def cluster(with_faults: Installed) -> Installed:
    with_faults.ok("scale", "dgx-h100", "--replicas", "1", "--param", ".mig = true", "--wait")
    return with_faults


def unscheduled(cluster: Installed, name: str) -> str:
    """Return why the scheduler has placed a pod on no node; empty if it has not said."""
    conditions = cluster.found("pods", name)["status"].get("conditions", ())
    return "".join(each.get("message", "") for each in conditions if each["type"] == "PodScheduled")


def claiming(name: str, device_class: str, count: int, profile: str = "") -> list[dict[str, Any]]:
    """Return a pod, and the template of its claim."""
    selectors = [
        {"cel": {"expression": f"device.attributes['gpu.nvidia.com'].profile == '{profile}'"}}
    ]
    exactly = {
        "deviceClassName": device_class,
        "count": count,
        **({"selectors": selectors} if profile else {}),
    }
    template = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name},
        "spec": {"spec": {"devices": {"requests": [{"name": "part", "exactly": exactly}]}}},
    }
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "annotations": {"kwokctl.dev/life": "kubelet"}},
        "spec": {
            "terminationGracePeriodSeconds": 1,
            "containers": [
                {"name": "x", "image": "x", "resources": {"claims": [{"name": "part"}]}}
            ],
            "resourceClaims": [{"name": "part", "resourceClaimTemplateName": name}],
        },
    }
    return [template, pod]


def create(cluster: Installed, objects: list[dict[str, Any]]) -> None:
    for each in objects:
        cluster.create(each)


def devices_of(cluster: Installed, pod: str) -> set[str]:
    """Return the names of the devices of a pod that runs."""
    cluster.wait_for("Ready", f"pod/{pod}")
    [status] = cluster.found("pods", pod)["status"]["resourceClaimStatuses"]
    claim = cluster.found("resourceclaims", status["resourceClaimName"])
    return {str(each["device"]) for each in claim["status"]["allocation"]["devices"]["results"]}


def pool(cluster: Installed) -> tuple[list[int], set[str]]:
    """Return the generations of the slices, and the names of their devices."""
    found = cluster.objects("resourceslices")
    names = {one["name"] for each in found for one in each["spec"].get("devices", ())}
    return [each["spec"]["pool"]["generation"] for each in found], names


def show(cluster: Installed, *entries: OpenEntry) -> None:
    """Let the node show these faults, or none."""
    entry_faults.show(cluster, *entries, on=NODE)


def test_parts_that_fill_all_gpus_leave_no_whole_one(cluster: Installed) -> None:
    create(cluster, claiming("halves", "mig.nvidia.com", 16, "3g.40gb"))
    halves = devices_of(cluster, "halves")
    assert halves == {f"gpu-{gpu}-mig-3g40gb-9-{start}" for gpu in range(8) for start in (0, 4)}

    create(cluster, claiming("whole", "gpu.nvidia.com", 1))
    until("it waits", lambda: "cannot allocate all claims" in unscheduled(cluster, "whole"))
    cluster.delete("pod", "halves")

    assert len(devices_of(cluster, "whole")) == 1
    cluster.delete("pod", "whole")


def test_a_fault_hits_all_parts_of_its_gpu_and_the_pool_is_whole_again(cluster: Installed) -> None:
    before = pool(cluster)
    taint = DeviceTaint(key="gpu.nvidia.com/xid", value="48", effect="NoSchedule")
    sick = [
        OpenEntry(fault="f", uid="u", class_name="c", since=1.0, gpu=gpu, device_taints=(taint,))
        for gpu in range(6)
    ]
    missing = OpenEntry(fault="g", uid="v", class_name="c", since=1.0, gpu=6, device="missing")
    show(cluster, *sick, missing)
    until("slices are as wanted", lambda: len(before[1] - pool(cluster)[1]) == PARTS)
    until("slices are as wanted", lambda: len({*pool(cluster)[0]}) == 1)

    create(cluster, claiming("part", "mig.nvidia.com", 1, "2g.20gb"))
    [part] = devices_of(cluster, "part")
    assert part.startswith("gpu-7-mig-2g20gb-14-")

    show(cluster)
    until("slices are as wanted", lambda: pool(cluster)[1] == before[1])
    until("slices are as wanted", lambda: len({*pool(cluster)[0]}) == 1)
    cluster.delete("pod", "part")
