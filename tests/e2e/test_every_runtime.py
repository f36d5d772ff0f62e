"""The life of a cluster, the same in every runtime: each step stands on those before it."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from kwokctl.errors import KwokctlError
from tests.support import engines
from tests.support.installed import Installed, listens
from tests.support.node_image import NoImageError, node_image
from tests.support.node_proxy import answer_of_node_proxy
from tests.support.on_kind import PATIENCE, fake_nodes
from tests.support.places import WITH_NODE, WITHOUT_NODE, Place

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.story(by="place"),
    pytest.mark.timeout(420, func_only=True),
]

NODES, PODS = 100, 20


@pytest.fixture(
    scope="module",
    params=[
        "binary",
        pytest.param("docker", marks=pytest.mark.docker),
        pytest.param("podman", marks=pytest.mark.docker),
        pytest.param("kind", marks=pytest.mark.kind),
        pytest.param("kind-podman", marks=pytest.mark.kind),
    ],
)
def place(request: pytest.FixtureRequest, programs: None) -> Iterator[Place]:
    """A runtime, with an engine of its own if it needs one."""
    if request.param in WITHOUT_NODE:
        with WITHOUT_NODE[request.param]() as place:
            yield place
        return
    with WITH_NODE[request.param](_image()) as place:
        yield place


def _image() -> Path:
    """Return the file of the node's image, for whose making Docker is used."""
    try:
        with engines.started() as maker:
            return asyncio.run(node_image(maker.url))
    except (engines.NoEngineError, NoImageError, KwokctlError) as e:
        pytest.skip(f"no image of a node: {e}")


@pytest.fixture(scope="module")
def main(place: Place, installed: Installed) -> Installed:
    main = installed.called(place.name)
    place.create(main)
    return main


def test_every_component_is_ready_and_reached_on_this_machine_only(
    place: Place, main: Installed
) -> None:
    assert main.statuses() == {"Ready"}
    assert place.found() == place.containers(main)
    assert all(listens(port) for port in main.ports())
    if place.command is not None:
        assert "0.0.0.0" not in "".join(place.command.words("ps", "--format", "{{.Ports}}"))


def test_nodes_and_pods_come_to_life(place: Place, main: Installed) -> None:
    main.ok("scale", "node", "--replicas", str(NODES), "--wait")
    main.kubectl("create", "deployment", "web", "--image=nginx", f"--replicas={PODS}")
    main.kubectl("rollout", "status", "deployment/web", "--timeout=90s")

    pods = main.objects("pods")
    assert [pod["status"]["phase"] for pod in pods] == ["Running"] * PODS
    assert {pod["spec"]["nodeName"] for pod in pods}.isdisjoint(place.containers(main))
    assert "writing statuses and leases to etcd" in main.ok("logs", "kwok-controller")


def test_etcdctl_reaches_etcd_by_its_port(place: Place, main: Installed) -> None:
    keys = main.ok("etcdctl", "get", "--prefix", "--keys-only", "/registry/minions/").split()

    assert len(keys) == NODES + place.has_node


def test_logs_are_read_and_followed(main: Installed) -> None:
    assert "etcd-version" in main.ok("logs", "etcd")

    follower = main.start("logs", "-f", "kube-apiserver")
    try:
        assert follower.stdout
        assert follower.stdout.readline()
    finally:
        follower.kill()
        follower.communicate()


def test_the_api_servers_proxy_reaches_who_plays_the_kubelets(
    place: Place, main: Installed
) -> None:
    if place.command is None:
        pytest.skip("the API server proxies to no loopback address, where processes listen")
    assert answer_of_node_proxy(main) == "ok"


def test_what_was_lost_comes_back_from_a_snapshot(main: Installed) -> None:
    path = str(main.folder / "saved.db")
    main.ok("snapshot", "save", "--path", path)
    main.ok("scale", "node", "--replicas", "10")

    main.ok("snapshot", "restore", "--path", path, timeout=PATIENCE)

    assert fake_nodes(main) == NODES
    Path(path).unlink()


def test_a_stopped_cluster_starts_again_with_all_it_had(place: Place, main: Installed) -> None:
    main.ok("stop", "cluster", timeout=PATIENCE)
    assert main.statuses() == {"Stopped"}
    assert place.found("--filter", "status=running") == []
    assert "etcd-version" in main.ok("logs", "etcd")

    main.ok("start", "cluster", "--wait", "240s", timeout=PATIENCE)

    assert main.statuses() == {"Ready"}
    assert fake_nodes(main) == NODES
    if place.command is not None:
        assert answer_of_node_proxy(main) == "ok"


def test_a_second_cluster_lives_beside_the_first(place: Place, main: Installed) -> None:
    second = main.called(f"{main.name}-2")
    place.create(second)

    assert fake_nodes(second) == 0
    assert not main.ports() & second.ports()
    assert place.found() == place.containers(main, second)

    second.ok("delete", "cluster", timeout=PATIENCE)
    assert place.found() == place.containers(main)
    assert main.statuses() == {"Ready"}


def test_deleting_leaves_nothing(place: Place, main: Installed) -> None:
    main.ok("delete", "cluster", timeout=PATIENCE)

    assert place.found() == []
    assert place.remains(main) == []
    assert main.processes() == {}
    assert main.files() <= {"kubeconfig", "own.yaml"}
