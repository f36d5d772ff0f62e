"""GPUs as a DRA driver publishes them, in a real cluster: allocated by the scheduler, gone with their node, repaired."""

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kwokctl.fleet.devices import gpu_uuid
from tests.support.eventually import eventually
from tests.support.installed import Installed

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
def cluster(installed: Installed) -> Iterator[Installed]:
    installed.ok("create", "cluster", "--wait")
    installed.ok(*SCALE, "--param", ".dra = true")
    yield installed
    installed.ok("delete", "cluster")


def items(cluster: Installed, kind: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(cluster.kubectl("get", kind, "-o", "json"))["items"]
    return found


def slices(cluster: Installed) -> set[str]:
    return {each["metadata"]["name"] for each in items(cluster, "resourceslices")}


def wait_until(holds: Callable[[], bool]) -> None:
    asyncio.run(eventually(holds))


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
    cluster.kubectl("create", "-f", "-", stdin=json.dumps(orphan))
    wait_until(lambda: "orphan" not in slices(cluster))


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
    file = tmp_path / "pods.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [CLAIM, pods[0]]}))
    cluster.kubectl("apply", "-f", str(file))
    cluster.kubectl("wait", "--for=condition=Ready", "pod/claimer-0", "--timeout=120s")

    (claim,) = items(cluster, "resourceclaims")
    results = claim["status"]["allocation"]["devices"]["results"]
    assert {each["pool"] for each in results} == {"dgx-h100-000001"}
    assert len({each["device"] for each in results}) == 5
    check_what_a_driver_reports(cluster, claim)

    # Five more of eight do not fit until the first five are free.
    file.write_text(json.dumps(pods[1]))
    cluster.kubectl("apply", "-f", str(file))
    condition = 'jsonpath={.status.conditions[?(@.type=="PodScheduled")].message}'
    wait_until(
        lambda: (
            "cannot allocate all claims"
            in cluster.kubectl("get", "pod", "claimer-1", "-o", condition)
        )
    )
    cluster.kubectl("delete", "pod", "claimer-0")
    cluster.kubectl("wait", "--for=condition=Ready", "pod/claimer-1", "--timeout=120s")
    cluster.kubectl("delete", "pod", "claimer-1")


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
    cluster.kubectl("delete", "node", "dgx-h100-000007")
    cluster.kubectl("delete", "resourceslice", "dgx-h100-000003-gpu.nvidia.com-0")
    lost = {f"dgx-h100-00000{number}-gpu.nvidia.com-0" for number in (3, 7)}
    wait_until(lambda: slices(cluster) == ALL - lost)

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
    cluster.kubectl("wait", "--for=condition=Ready", "node", "--all", "--timeout=120s")
    collect_garbage(cluster)

    assert slices(cluster) == ALL


def test_nothing_is_left_of_a_set_without_nodes(cluster: Installed) -> None:
    cluster.ok("scale", "dgx-h100", "--replicas", "0", "--yes")

    assert slices(cluster) == set()
    assert [each["metadata"]["name"] for each in items(cluster, "deviceclasses")] == [
        "gpu.nvidia.com"
    ]
