"""Faults of GPUs in their ResourceSlices, in a real cluster: who is evicted, which devices are given, and all is undone."""

import json
import os
import signal
from typing import Any

import pytest

from kwokctl.faults.classes.class_schema import DeviceTaint
from kwokctl.faults.overlays.open_entries import OpenEntry
from kwokctl.faults.overlays.slice_overlay import SLICE_JOURNAL
from tests.support import entry_faults
from tests.support.injected import inject
from tests.support.installed import Installed, until

pytestmark = [pytest.mark.components, pytest.mark.e2e]

NODE = "dgx-h100-000000"
SLICE = f"{NODE}-gpu.nvidia.com-0"
CLAIM = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaimTemplate",
    "metadata": {"name": "gpu"},
    "spec": {
        "spec": {
            "devices": {
                "requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}]
            }
        }
    },
}


@pytest.fixture(scope="module")
def cluster(with_faults: Installed) -> Installed:
    with_faults.ok("scale", "dgx-h100", "--replicas", "1", "--param", ".dra = true", "--wait")
    with_faults.create(CLAIM)
    return with_faults


def show(cluster: Installed, *entries: OpenEntry) -> None:
    """Let the node show these faults, or none."""
    entry_faults.show(cluster, *entries, on=NODE)


def hit(gpu: int, effect: Any) -> OpenEntry:
    taint = DeviceTaint(key="gpu.nvidia.com/xid", value="79", effect=effect)
    return OpenEntry(
        fault="f", uid="u", class_name="xid-79", since=1.0, gpu=gpu, device_taints=(taint,)
    )


def devices(cluster: Installed) -> dict[str, Any]:
    return {
        each["name"]: each for each in cluster.found("resourceslices", SLICE)["spec"]["devices"]
    }


def tainted(cluster: Installed) -> set[str]:
    return {name for name, each in devices(cluster).items() if each.get("taints")}


def run_pod(cluster: Installed, name: str) -> str:
    """Run a pod with a claim of one GPU, and return the name of the device that the scheduler has given it."""
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {
            "terminationGracePeriodSeconds": 1,
            "containers": [{"name": "x", "image": "x", "resources": {"claims": [{"name": "gpu"}]}}],
            "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpu"}],
        },
    }
    cluster.create(pod)
    cluster.wait_for("Ready", f"pod/{name}")
    [status] = cluster.found("pods", name)["status"]["resourceClaimStatuses"]
    claim = cluster.found("resourceclaims", status["resourceClaimName"])
    [result] = claim["status"]["allocation"]["devices"]["results"]
    return str(result["device"])


def number(device: str) -> int:
    return int(device.removeprefix("gpu-"))


def healthy(cluster: Installed) -> bool:
    found = cluster.found("resourceslices", SLICE)
    meta = found["metadata"]
    has_journal = SLICE_JOURNAL in {**meta.get("annotations", {}), **meta.get("labels", {})}
    return not has_journal and len(devices(cluster)) == 8 and not tainted(cluster)


def test_exactly_the_pods_with_the_device_are_evicted(cluster: Installed) -> None:
    first, second = run_pod(cluster, "first"), run_pod(cluster, "second")
    assert first != second
    uid = cluster.found("pods", "second")["metadata"]["uid"]

    show(cluster, hit(number(first), "NoExecute"))
    until("it is evicted", lambda: "first" not in cluster.names("pods"))

    assert cluster.found("pods", "second")["metadata"]["uid"] == uid
    assert "deletionTimestamp" not in cluster.found("pods", "second")["metadata"]
    [taint] = devices(cluster)[first]["taints"]
    assert taint.pop("timeAdded")
    assert taint == {"key": "gpu.nvidia.com/xid", "value": "79", "effect": "NoExecute"}
    show(cluster)
    until("slices are as wanted", lambda: healthy(cluster))
    cluster.delete("pod", "second")


def test_the_scheduler_gives_devices_that_are_not_tainted(cluster: Installed) -> None:
    sick = {f"gpu-{gpu}" for gpu in range(8) if gpu != 6}
    show(cluster, *(hit(number(each), "NoSchedule") for each in sorted(sick)))
    until("slices are as wanted", lambda: tainted(cluster) == sick)

    assert run_pod(cluster, "third") == "gpu-6"

    show(cluster)
    until("slices are as wanted", lambda: healthy(cluster))
    cluster.delete("pod", "third")


def test_a_missing_device_is_in_no_slice_until_the_fault_ends(cluster: Installed) -> None:
    before = cluster.found("resourceslices", SLICE)["spec"]
    missing = OpenEntry(
        fault="f", uid="u", class_name="gpu-missing", since=1.0, gpu=3, device="missing"
    )
    show(cluster, missing, hit(4, "None"))
    until("slices are as wanted", lambda: "gpu-3" not in devices(cluster))

    assert tainted(cluster) == {"gpu-4"}
    shown = cluster.found("resourceslices", SLICE)["spec"]
    assert shown["pool"]["generation"] > before["pool"]["generation"]

    show(cluster)
    until("slices are as wanted", lambda: healthy(cluster))
    assert cluster.found("resourceslices", SLICE)["spec"]["devices"] == before["devices"]


def repaired(cluster: Installed, action: str) -> dict[str, Any]:
    """Repair the node by hand, and return how that has ended."""
    cluster.ok("repair", NODE, "--action", action, "--takes", "1s", "--wait", "300s")
    last: dict[str, Any] = json.loads(cluster.ok("repair", "status", NODE, "-o", "json"))[-1]
    return last


def test_a_repair_takes_the_taints_of_a_device_back(cluster: Installed) -> None:
    before = cluster.found("resourceslices", SLICE)["spec"]["devices"]
    on_it: dict[str, Any] = {"target": {"nodes": [NODE]}, "dialects": ["dra"]}
    inject(cluster, "soft", "xid-94", **on_it, parameters={"gpu": 1})
    inject(cluster, "hard", "xid-64", **on_it, parameters={"gpu": 2})
    until("slices are as wanted", lambda: tainted(cluster) == {"gpu-1", "gpu-2"})

    found = repaired(cluster, "reset-gpu")

    assert (found["cleared"], found["left"]) == (["soft"], ["hard"])
    until("slices are as wanted", lambda: tainted(cluster) == {"gpu-2"})
    show(cluster)
    until("slices are as wanted", lambda: healthy(cluster))
    assert cluster.found("resourceslices", SLICE)["spec"]["devices"] == before


def test_a_node_that_is_replaced_has_slices_without_taints(cluster: Installed) -> None:
    before = cluster.found("resourceslices", SLICE)
    on_it: dict[str, Any] = {"target": {"nodes": [NODE]}, "dialects": ["dra"]}
    inject(cluster, "hard", "xid-95", **on_it, parameters={"gpu": 5})
    until("slices are as wanted", lambda: tainted(cluster) == {"gpu-5"})

    with cluster.paused("kube-controller-manager"):  # the garbage collector may be late
        found = repaired(cluster, "replace")

    assert (found["phase"], found["cleared"]) == ("Succeeded", ["hard"])
    until("slices are as wanted", lambda: healthy(cluster))
    after = cluster.found("resourceslices", SLICE)
    assert after["metadata"]["uid"] != before["metadata"]["uid"]
    assert after["spec"]["devices"] == before["spec"]["devices"]


def test_what_ends_while_no_controller_runs_is_undone_by_the_next(cluster: Installed) -> None:
    show(cluster, hit(2, "NoSchedule"))
    until("slices are as wanted", lambda: tainted(cluster) == {"gpu-2"})

    os.kill(cluster.pids()["kwok-controller"], signal.SIGKILL)
    cluster.delete("faults", "--all")
    assert tainted(cluster) == {"gpu-2"}
    cluster.ok("start", "cluster", "--wait", "60s")

    until("slices are as wanted", lambda: healthy(cluster))
