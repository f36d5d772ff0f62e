"""The life of a cluster on a node that kind makes with Podman: each step stands on those before it."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from kwokctl.errors import KwokctlError
from tests.support import engines, podman
from tests.support.engine_command import EngineCommand
from tests.support.installed import Installed, listens
from tests.support.node_image import NoImageError, node_image
from tests.support.node_proxy import answer_of_node_proxy
from tests.support.on_kind import PATIENCE, create, fake_nodes

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.kind,
    pytest.mark.story,
    pytest.mark.timeout(420, func_only=True),
]

NODE = "kwok-main-control-plane"
command = EngineCommand("podman")


@pytest.fixture(scope="module")
def image(programs: None) -> Path:
    """The file of the node's image, for whose making Docker is used."""
    try:
        with engines.started() as maker:
            return asyncio.run(node_image(maker.url))
    except (engines.NoEngineError, NoImageError, KwokctlError) as e:
        pytest.skip(f"no image of a node: {e}")


@pytest.fixture(scope="module")
def service(image: Path) -> Iterator[engines.Daemon]:
    """A Podman that only CONTAINER_HOST tells of, to kwokctl and to what kind runs."""
    with engines.at_hand(podman.started(), "CONTAINER_HOST") as service:
        yield service


@pytest.fixture(scope="module")
def main(installed: Installed, image: Path, service: engines.Daemon) -> Installed:
    main = installed.called("main")
    create(main, "--kind-node-image", str(image), "--wait", runtime="kind-podman")
    return main


def address() -> str:
    return command.words(
        "inspect", "--format", "{{.NetworkSettings.Networks.kind.IPAddress}}", NODE
    )[0]


def test_every_component_is_ready_on_one_node(main: Installed) -> None:
    assert main.statuses() == {"Ready"}
    assert command.containers() == [NODE]
    assert all(listens(port) for port in main.ports())


def test_nodes_and_pods_come_to_life_beside_the_real_node(main: Installed) -> None:
    main.ok("scale", "node", "--replicas", "50", "--wait")
    main.kubectl("create", "deployment", "web", "--image=nginx", "--replicas=10")
    main.kubectl("rollout", "status", "deployment/web", "--timeout=90s")

    pods = main.objects("pods")
    assert [pod["status"]["phase"] for pod in pods] == ["Running"] * 10
    assert NODE not in {pod["spec"]["nodeName"] for pod in pods}


def test_logs_are_those_of_the_pods(main: Installed) -> None:
    assert "etcd-version" in main.ok("logs", "etcd")

    follower = main.start("logs", "-f", "kube-apiserver")
    try:
        assert follower.stdout
        assert follower.stdout.readline()
    finally:
        follower.kill()
        follower.communicate()


def test_the_api_servers_proxy_reaches_who_plays_the_kubelets(main: Installed) -> None:
    assert answer_of_node_proxy(main) == "ok"


def test_a_stopped_cluster_starts_again_at_another_address_with_all_it_had(
    main: Installed,
) -> None:
    before = address()
    main.ok("stop", "cluster", timeout=PATIENCE)
    assert main.statuses() == {"Stopped"}
    assert command.containers("--filter", "status=running") == []

    main.ok("start", "cluster", "--wait", "240s", timeout=PATIENCE)

    assert address() != before
    assert main.statuses() == {"Ready"}
    assert fake_nodes(main) == 50
    assert answer_of_node_proxy(main) == "ok"


def test_deleting_leaves_no_container_volume_process_or_file(main: Installed) -> None:
    main.ok("delete", "cluster", timeout=PATIENCE)

    assert command.containers() == []
    assert command.words("volume", "ls", "--quiet") == []
    assert main.processes() == {}
    assert main.files() == {"kubeconfig", "own.yaml"}
