"""The devices of pods where the API server drops them from statuses, as those before Kubernetes 1.36 do."""

import os
import signal

import pytest

from kwokctl.fleet.allocations import DEVICES, Allocation, allocations_of
from tests.support.installed import Installed, until

pytestmark = [pytest.mark.components, pytest.mark.e2e]

GPU = "nvidia.com/gpu"


@pytest.fixture(scope="module")
def cluster(with_schedulers: Installed) -> Installed:
    with_schedulers.ok("scale", "dgx-h100", "--replicas", "1", "--wait")
    return with_schedulers


def run(cluster: Installed, name: str) -> list[Allocation]:
    """Let a pod with two GPUs run; return its devices."""
    container = {"name": "main", "image": "x", "resources": {"limits": {GPU: "2"}}}
    cluster.run_pod(name, {"containers": [container]})
    until(f"{name} runs", lambda: cluster.found("pods", name)["status"].get("phase") == "Running")
    return list(allocations_of(cluster.found("pods", name)))


def test_an_annotation_says_them_also_to_the_next_controller(cluster: Installed) -> None:
    first = run(cluster, "first")
    found = cluster.found("pods", "first")
    assert len(first) == 2
    assert DEVICES in found["metadata"]["annotations"]
    assert "allocatedResourcesStatus" not in found["status"]["containerStatuses"][0]

    os.kill(cluster.pids()["kwok-controller"], signal.SIGKILL)
    cluster.ok("start", "cluster")
    second = run(cluster, "second")
    assert list(allocations_of(cluster.found("pods", "first"))) == first
    assert not {each.device_id for each in first} & {each.device_id for each in second}
