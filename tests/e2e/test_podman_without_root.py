"""A cluster in containers of a Podman that a user without root runs."""

from collections.abc import Iterator

import pytest

from tests.support.another_user import AnotherUser, another_user

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.podman,
    pytest.mark.story,
    pytest.mark.timeout(600, func_only=True),
]
CREATE = ("create", "cluster", "--runtime", "podman", "--artifact-source", "build")


@pytest.fixture(scope="module")
def user(programs: None) -> Iterator[AnotherUser]:
    with another_user() as user:
        yield user


def test_a_cluster_is_made_whose_files_are_its_users(user: AnotherUser) -> None:
    user.ok(*CREATE, "--nodes", "2", "--wait")

    database = user.home / ".kwok" / "clusters" / "kwok" / "etcd" / "member" / "snap" / "db"
    assert database.stat().st_uid == user.uid
    assert user.ok("kubectl", "get", "nodes", "--no-headers").count(" Ready ") == 2


def test_the_api_server_in_its_container_reaches_the_kubelet_server(user: AnotherUser) -> None:
    user.ok("kubectl", "run", "pod", "--image", "x")
    user.ok("kubectl", "wait", "--for=condition=Ready", "pod/pod", "--timeout=120s")

    assert "no Logs or ClusterLogs document" in user.kwokctl("kubectl", "logs", "pod").err


def test_it_stops_and_starts_and_leaves_nothing(user: AnotherUser) -> None:
    user.ok("stop", "cluster")
    user.ok("start", "cluster", "--wait")
    assert user.ok("kubectl", "get", "nodes", "--no-headers").count(" Ready ") == 2
    user.ok("delete", "cluster")

    assert user.podman("ps", "--all", "--quiet") == ""
    assert "kwok" not in user.podman("network", "ls", "--quiet")
