"""The devices of pods that live as on a kubelet, in a real cluster: who has which, and that it stays so."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kwokctl.fleet.allocations import allocations_of
from kwokctl.fleet.devices import device_ids
from tests.support.installed import Installed, condition, until

pytestmark = [pytest.mark.components, pytest.mark.e2e]

GPU = "nvidia.com/gpu"
HEALTH = "kwokctl.dev/device-health"
NODE = "dgx-h100-000000"


@pytest.fixture(scope="module")
def cluster(as_on_kubelets: Installed) -> Installed:
    as_on_kubelets.ok("scale", "dgx-h100", "--replicas", "1", "--wait")
    return as_on_kubelets


@pytest.fixture
def pods(cluster: Installed) -> Iterator[Callable[[str, int], None]]:
    """Return what creates a pod that asks for GPUs; all are deleted afterwards."""

    def create(name: str, gpus: int) -> None:
        resources = {"limits": {GPU: str(gpus)}}
        spec = {"containers": [{"name": "main", "image": "x", "resources": resources}]}
        cluster.run_pod(name, spec)

    yield create
    cluster.delete("pods", "--all", "--now")


def pod(cluster: Installed, name: str) -> dict[str, Any]:
    found: dict[str, Any] = cluster.found("pods", name)
    return found


def phase(cluster: Installed, name: str, wanted: str) -> Callable[[], bool]:
    return lambda: bool(pod(cluster, name)["status"].get("phase") == wanted)


def devices(cluster: Installed, name: str) -> list[str]:
    return [each.device_id for each in allocations_of(pod(cluster, name))]


def health(cluster: Installed, name: str) -> set[str]:
    return {each.health for each in allocations_of(pod(cluster, name))}


def numbers(cluster: Installed) -> str:
    status = cluster.found("nodes", NODE)["status"]
    return f"{status['capacity'][GPU]}/{status['allocatable'][GPU]}"


def test_a_full_node_has_each_gpu_in_one_pod_and_a_ninth_pod_waits(
    cluster: Installed, pods: Callable[[str, int], None]
) -> None:
    names = [f"one-{number}" for number in range(8)]
    for name in names:
        pods(name, 1)
    until("eight pods run", lambda: all(phase(cluster, each, "Running")() for each in names))
    pods("ninth", 1)

    node = cluster.found("nodes", NODE)
    labels, resources = node["metadata"]["labels"], {GPU: 8}
    held = [device for each in names for device in devices(cluster, each)]
    assert sorted(held) == sorted(device_ids(NODE, labels, resources, GPU))
    until(
        "the ninth is known not to fit",
        lambda: condition(pod(cluster, "ninth"), "PodScheduled") == "False",
    )
    freed = devices(cluster, names[3])
    cluster.delete("pod", names[3], "--now")
    until("the ninth runs", phase(cluster, "ninth", "Running"))
    assert devices(cluster, "ninth") == freed


def test_devices_stay_when_the_controller_is_killed_and_when_a_snapshot_is_restored(
    cluster: Installed, pods: Callable[[str, int], None], tmp_path: Path
) -> None:
    pods("two", 2)
    pods("three", 3)
    both = ("two", "three")
    until("both run", lambda: all(phase(cluster, each, "Running")() for each in both))
    before = [devices(cluster, each) for each in both]

    os.kill(cluster.pids()["kwok-controller"], signal.SIGKILL)
    cluster.ok("start", "cluster")
    pods("new", 1)
    until("a new pod runs", phase(cluster, "new", "Running"))
    assert [devices(cluster, each) for each in both] == before
    assert not {*devices(cluster, "new")} & {*before[0], *before[1]}

    path = str(tmp_path / "saved.db")
    cluster.ok("snapshot", "save", "--path", path)
    cluster.delete("pod", "two", "--now")
    pods("later", 2)
    until("a later pod runs", phase(cluster, "later", "Running"))
    cluster.ok("snapshot", "restore", "--path", path)

    pods("last", 2)
    until("a last pod runs", phase(cluster, "last", "Running"))
    assert [devices(cluster, each) for each in both] == before
    everything = [each for name in (*both, "new", "last") for each in devices(cluster, name)]
    assert len(everything) == len({*everything}) == 8


def shown(cluster: Installed, expected: str, states: set[str]) -> None:
    until(f"it is {expected}", lambda: numbers(cluster) == expected)
    until(f"the pod says {states}", lambda: health(cluster, "all") == states)


def test_the_numbers_and_the_health_are_those_of_a_kubelet(
    cluster: Installed, pods: Callable[[str, int], None]
) -> None:
    pods("all", 8)
    until("it runs", phase(cluster, "all", "Running"))
    for text, expected, states in (
        ("unhealthy=3", "8/7", {"Healthy", "Unhealthy"}),
        ("missing=3", "7/7", {"Healthy"}),
        ("gone=all", "8/0", {"Unhealthy"}),
    ):
        cluster.annotate("node", NODE, "--overwrite", f"{HEALTH}={text}")
        shown(cluster, expected, states)
    cluster.annotate("node", NODE, f"{HEALTH}-")
    shown(cluster, "8/8", {"Healthy"})
    assert phase(cluster, "all", "Running")()


def test_a_state_that_a_client_wipes_comes_back_with_the_devices(
    cluster: Installed, pods: Callable[[str, int], None]
) -> None:
    pods("wiped", 2)
    until("it is ready", lambda: condition(pod(cluster, "wiped"), "Ready") == "True")
    before = pod(cluster, "wiped")["status"]["containerStatuses"]

    own = {"name": GPU, "resources": [{"resourceID": "GPU-other", "health": "Unhealthy"}]}
    patch = {"status": {"containerStatuses": [{"name": "main", "allocatedResourcesStatus": [own]}]}}
    cluster.patch(
        "pod", "wiped", "--subresource=status", "--type=strategic", "-p", json.dumps(patch)
    )
    until(
        "the status is as before",
        lambda: pod(cluster, "wiped")["status"]["containerStatuses"] == before,
    )
