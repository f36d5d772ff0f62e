"""GPUs as a DRA driver publishes them, in a real cluster: allocated by the scheduler, gone with their node, repaired."""

from pathlib import Path
from typing import Any

import pytest

from kwokctl.fleet.devices import gpu_uuid
from tests.support.installed import Installed, until

pytestmark = [pytest.mark.components, pytest.mark.e2e]

NODES = 30
SCALE = ("scale", "dgx-h100", "--replicas", str(NODES), "--wait")
CLAIM = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaimTemplate",
    "metadata": {"name": "gpus"},
    "spec": {
        "spec": {
            "devices": {
                "requests": [
                    {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 5}}
                ]
            }
        }
    },
}


@pytest.fixture(scope="module")
def cluster(with_faults: Installed) -> Installed:
    with_faults.ok(*SCALE, "--param", ".dra = true")
    return with_faults


def items(cluster: Installed, kind: str) -> list[dict[str, Any]]:
    return cluster.objects(kind)


def slices(cluster: Installed) -> set[str]:
    return {each["metadata"]["name"] for each in items(cluster, "resourceslices")}


def unscheduled(cluster: Installed, name: str) -> str:
    """Return why the scheduler has placed a pod on no node; empty if it has not said."""
    conditions = cluster.found("pods", name)["status"].get("conditions", ())
    return "".join(each.get("message", "") for each in conditions if each["type"] == "PodScheduled")


def collect_garbage(cluster: Installed) -> None:
    """Wait until the garbage collector has removed a slice whose node does not exist."""
    owner = {"apiVersion": "v1", "kind": "Node", "name": "none", "uid": "none"}
    orphan = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "orphan", "ownerReferences": [owner]},
        "spec": {
            "driver": "example.com",
            "nodeName": "none",
            "pool": {"name": "none", "generation": 1, "resourceSliceCount": 1},
            "devices": [],
        },
    }
    cluster.create(orphan)
    until("slices are as wanted", lambda: "orphan" not in slices(cluster))


ALL = {f"dgx-h100-{serial:06d}-gpu.nvidia.com-0" for serial in range(NODES)}


def test_every_node_has_a_slice_which_it_owns(cluster: Installed) -> None:
    uids = {each["metadata"]["name"]: each["metadata"]["uid"] for each in items(cluster, "nodes")}

    found = items(cluster, "resourceslices")

    assert {each["metadata"]["name"] for each in found} == ALL
    for each in found:
        (owner,) = each["metadata"]["ownerReferences"]
        assert owner["uid"] == uids[each["spec"]["nodeName"]]
    uuids = [
        device["attributes"]["uuid"]["string"]
        for each in found
        for device in each["spec"]["devices"]
    ]
    assert len(set(uuids)) == NODES * 8


def test_pods_with_claims_run_with_devices_of_their_own(cluster: Installed, tmp_path: Path) -> None:
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": f"claimer-{number}",
                "annotations": {"kwokctl.dev/life": "kubelet"},
            },
            "spec": {
                "nodeSelector": {"kubernetes.io/hostname": "dgx-h100-000001"},
                "containers": [
                    {"name": "x", "image": "x", "resources": {"claims": [{"name": "gpus"}]}}
                ],
                "resourceClaims": [{"name": "gpus", "resourceClaimTemplateName": "gpus"}],
            },
        }
        for number in range(2)
    ]
    cluster.create(CLAIM, pods[0])
    cluster.wait_for("Ready", "pod/claimer-0")

    (claim,) = items(cluster, "resourceclaims")
    results = claim["status"]["allocation"]["devices"]["results"]
    assert {each["pool"] for each in results} == {"dgx-h100-000001"}
    assert len({each["device"] for each in results}) == 5
    check_what_a_driver_reports(cluster, claim)

    # Five more of eight do not fit until the first five are free.
    cluster.create(pods[1])
    until("it waits", lambda: "cannot allocate all claims" in unscheduled(cluster, "claimer-1"))
    cluster.delete("pod", "claimer-0")
    cluster.wait_for("Ready", "pod/claimer-1")
    cluster.delete("pod", "claimer-1")


def check_what_a_driver_reports(cluster: Installed, claim: dict[str, Any]) -> None:
    """The controller stands in for the driver: devices are ready, and the pod names them."""
    devices = {each["device"]: each for each in claim["status"]["devices"]}
    assert devices.keys() == {
        each["device"] for each in claim["status"]["allocation"]["devices"]["results"]
    }
    for name, each in devices.items():
        assert [(one["type"], one["status"]) for one in each["conditions"]] == [("Ready", "True")]
        gpu = gpu_uuid("dgx-h100-000001", int(name.removeprefix("gpu-")))
        assert each["data"] == {"uuid": gpu}
    [status] = cluster.found("pods", "claimer-0")["status"]["containerStatuses"]
    [allocated] = status["allocatedResourcesStatus"]
    assert allocated["name"] == "claim:gpus"
    assert sorted(each["resourceID"] for each in allocated["resources"]) == sorted(
        f"gpu.nvidia.com/dgx-h100-000001/{name}" for name in devices
    )
    listed = cluster.kubectl("exec", "claimer-0", "--", "nvidia-smi", "-L")
    assert all(each["data"]["uuid"] in listed for each in devices.values())
    assert listed.count("UUID: GPU-") == len(devices)


def test_slices_go_with_their_node_and_the_same_command_repairs_both(cluster: Installed) -> None:
    cluster.delete("node", "dgx-h100-000007")
    cluster.delete("resourceslice", "dgx-h100-000003-gpu.nvidia.com-0")
    lost = {f"dgx-h100-00000{number}-gpu.nvidia.com-0" for number in (3, 7)}
    until("slices are as wanted", lambda: slices(cluster) == ALL - lost)

    cluster.ok(*SCALE)

    assert slices(cluster) == ALL


def test_a_rewind_brings_them_back_with_their_owners(cluster: Installed) -> None:
    before = {each["metadata"]["uid"] for each in items(cluster, "resourceslices")}
    cluster.ok("snapshot", "mark", "whole")
    cluster.ok("scale", "dgx-h100", "--replicas", "2", "--yes")
    assert len(slices(cluster)) == 2

    cluster.ok("snapshot", "rewind", "whole")
    collect_garbage(cluster)

    assert {each["metadata"]["uid"] for each in items(cluster, "resourceslices")} == before


def test_a_snapshot_keeps_them(cluster: Installed, tmp_path: Path) -> None:
    file = str(tmp_path / "fleet.db")
    cluster.ok("snapshot", "save", "--path", file)
    cluster.ok("scale", "dgx-h100", "--replicas", "0", "--yes")
    assert slices(cluster) == set()

    cluster.ok("snapshot", "restore", "--path", file)
    cluster.wait_for("Ready", *(f"node/{name}" for name in cluster.names("nodes")))
    collect_garbage(cluster)

    assert slices(cluster) == ALL


def test_nothing_is_left_of_a_set_without_nodes(cluster: Installed) -> None:
    cluster.ok("scale", "dgx-h100", "--replicas", "0", "--yes")

    assert slices(cluster) == set()
    assert [each["metadata"]["name"] for each in items(cluster, "deviceclasses")] == [
        "gpu.nvidia.com"
    ]
