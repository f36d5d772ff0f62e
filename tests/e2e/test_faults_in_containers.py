"""The story of a fault where the control plane runs in containers: shown, reacted to, and undone."""

from collections.abc import Iterator

import pytest

from kwokctl.fleet.devices import GPU
from tests.support.injected import shows
from tests.support.installed import Installed, condition, until
from tests.support.places import Place, opened

pytestmark = [pytest.mark.components, pytest.mark.e2e, pytest.mark.timeout(600, func_only=True)]

NODE = "dgx-h100-000000"


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("docker", marks=pytest.mark.docker),
        pytest.param("kind", marks=[pytest.mark.docker, pytest.mark.kind]),
    ],
)
def place(request: pytest.FixtureRequest, programs: None) -> Iterator[Place]:
    """A runtime whose API server is not a process of this machine."""
    with opened(request) as place:
        yield place


@pytest.fixture(scope="module")
def cluster(place: Place, installed: Installed) -> Iterator[Installed]:
    place.create(installed, "--stage", "pod-kubelet")
    installed.ok("scale", "dgx-h100", "--replicas", "2", "--wait")
    yield installed
    installed.ok("delete", "cluster")


def gpus(cluster: Installed) -> str:
    status = cluster.found("node", NODE)["status"]
    return f"{status['capacity'][GPU]}/{status['allocatable'][GPU]}"


def test_a_gpu_falls_off_the_bus_and_comes_back(cluster: Installed) -> None:
    spec = {
        "nodeName": NODE,
        "containers": [{"name": "w", "image": "x", "resources": {"limits": {GPU: "8"}}}],
    }
    cluster.run_pod("w", spec)
    cluster.wait_for("Ready", "pod/w")
    words = (
        "--node",
        NODE,
        "--dialect",
        "device-plugin",
        "--dialect",
        "azurehpc",
        "--set",
        "gpu=3",
    )

    cluster.ok("fault", "inject", "gpu-missing", *words, "--id", "lost", "--wait")

    until("the node has a GPU less", lambda: gpus(cluster) == "7/7")
    assert shows(cluster, NODE) == {"lost"}
    assert "lost" in cluster.ok("fault", "status")
    cluster.ok("fault", "clear", "lost", "--wait")
    until("the node is whole", lambda: gpus(cluster) == "8/8")
    assert shows(cluster, NODE) == set()


def test_a_silent_node_is_unknown_and_comes_back(cluster: Installed) -> None:
    cluster.ok("fault", "inject", "silent", "--node", NODE, "--id", "quiet", "--wait")
    until(
        "the controller-manager has noticed",
        lambda: condition(cluster.found("node", NODE), "Ready") == "Unknown",
    )

    cluster.ok("fault", "clear", "quiet", "--wait")
    until("it is back", lambda: condition(cluster.found("node", NODE), "Ready") == "True")
