"""The life of a cluster in containers of Podman's: each step stands on those before it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import engines, podman
from tests.support.engine_command import EngineCommand
from tests.support.installed import Installed, listens
from tests.support.node_proxy import answer_of_node_proxy

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.docker,
    pytest.mark.story,
    pytest.mark.timeout(180, func_only=True),
]

COMPONENTS = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"]
CREATE = ("create", "cluster", "--runtime", "docker", "--artifact-source", "build")
command = EngineCommand("podman")


@pytest.fixture(scope="module")
def service() -> Iterator[engines.Daemon]:
    """A Podman that is named to kwokctl, and to podman's own command."""
    with engines.at_hand(podman.started(), "DOCKER_HOST", "CONTAINER_HOST") as service:
        yield service


@pytest.fixture(scope="module")
def main(service: engines.Daemon, installed: Installed) -> Installed:
    main = installed.called("main")
    main.ok(*CREATE, "--wait")
    return main


def nodes(cluster: Installed) -> int:
    return len(cluster.objects("nodes"))


def test_every_component_is_ready_in_a_container_of_its_own(main: Installed) -> None:
    assert main.statuses() == {"Ready"}
    assert command.containers() == [f"kwok-main-{name}" for name in COMPONENTS]
    assert all(listens(port) for port in main.ports())
    assert "0.0.0.0" not in "".join(command.words("ps", "--format", "{{.Ports}}"))


def test_nodes_and_pods_come_to_life(main: Installed) -> None:
    main.ok("scale", "node", "--replicas", "50", "--wait")
    main.kubectl("create", "deployment", "web", "--image=nginx", "--replicas=10")
    main.kubectl("rollout", "status", "deployment/web", "--timeout=60s")

    pods = main.objects("pods")
    assert [pod["status"]["phase"] for pod in pods] == ["Running"] * 10
    assert "writing statuses and leases to etcd" in main.ok("logs", "kwok-controller")


def test_logs_are_read_and_followed_across_a_restart(main: Installed) -> None:
    assert "etcd-version" in main.ok("logs", "etcd")

    follower = main.start("logs", "-f", "kube-scheduler")
    try:
        command.words("restart", "--time", "5", "kwok-main-kube-scheduler")
        written = command.lines("logs", "kwok-main-kube-scheduler")
        assert follower.stdout
        heard = [follower.stdout.readline().rstrip("\n") for _ in written]
    finally:
        follower.kill()
        follower.communicate()

    assert heard == written


def test_the_api_servers_proxy_reaches_who_plays_the_kubelets(main: Installed) -> None:
    assert answer_of_node_proxy(main) == "ok"


def test_what_was_lost_comes_back_from_a_snapshot(main: Installed) -> None:
    path = str(main.folder / "saved.db")
    main.ok("snapshot", "save", "--path", path)
    main.ok("scale", "node", "--replicas", "10")

    main.ok("snapshot", "restore", "--path", path)

    assert nodes(main) == 50
    Path(path).unlink()


def test_a_stopped_cluster_starts_again_with_all_it_had(main: Installed) -> None:
    main.ok("stop", "cluster")
    assert main.statuses() == {"Stopped"}
    assert command.containers("--filter", "status=running") == []

    main.ok("start", "cluster", "--wait", "60s")

    assert main.statuses() == {"Ready"}
    assert nodes(main) == 50
    assert answer_of_node_proxy(main) == "ok"


def test_a_restart_of_the_service_leaves_the_cluster_alone(
    main: Installed, service: engines.Daemon
) -> None:
    service.restart()

    assert main.statuses() == {"Ready"}


def test_a_removed_container_is_made_anew_and_the_data_stay(main: Installed) -> None:
    command.words("rm", "--force", "--time", "0", "kwok-main-etcd")
    assert "Stopped" in main.statuses()

    main.ok("start", "cluster", "--wait", "60s")

    assert nodes(main) == 50


def test_deleting_leaves_no_container_network_volume_process_or_file(main: Installed) -> None:
    main.ok("delete", "cluster")

    assert command.containers() == []
    assert command.words("volume", "ls", "--quiet") == []
    assert "kwok-main" not in command.words("network", "ls", "--format", "{{.Name}}")
    assert main.processes() == {}
    assert main.files() == {"kubeconfig"}
