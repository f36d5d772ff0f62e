"""What happens to a cluster in containers of Podman's: each step stands on those before it."""

from collections.abc import Iterator

import pytest

from tests.support import engines
from tests.support.engine_command import EngineCommand
from tests.support.installed import Installed

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.podman,
    pytest.mark.story,
    pytest.mark.timeout(600, func_only=True),
]

COMPONENTS = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"]
CREATE = ("create", "cluster", "--runtime", "docker", "--artifact-source", "build")
command = EngineCommand("podman")


@pytest.fixture(scope="module")
def service(own_podman: engines.Daemon) -> Iterator[engines.Daemon]:
    """A Podman that is named to kwokctl, and to podman's own command."""
    with engines.named(own_podman, "DOCKER_HOST", "CONTAINER_HOST") as service:
        yield service


@pytest.fixture(scope="module")
def main(service: engines.Daemon, installed: Installed) -> Installed:
    main = installed.called("main")
    main.ok(*CREATE, "--wait")
    main.ok("scale", "node", "--replicas", "50", "--wait")
    return main


def nodes(cluster: Installed) -> int:
    return len(cluster.objects("nodes"))


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


def test_a_restart_of_the_service_leaves_the_cluster_alone(
    main: Installed, service: engines.Daemon
) -> None:
    service.restart()

    assert main.statuses() == {"Ready"}


def test_a_removed_container_is_recreated_and_the_data_stay(main: Installed) -> None:
    command.words("rm", "--force", "--time", "0", "kwok-main-etcd")
    assert "Stopped" in main.statuses()

    main.ok("start", "cluster", "--wait", "180s")

    assert nodes(main) == 50
