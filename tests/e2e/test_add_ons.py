"""An add-on of the user's own in a cluster: its identity, objects, webhook and patch, and its life."""

import asyncio
from collections.abc import Iterator
from http import HTTPStatus

import pytest

from tests.support.greeter import FOLDER, demand_refusal, greeter_of, page_of
from tests.support.installed import Installed
from tests.support.planes import answer_to_token

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
]

CREATE = ("create", "cluster", "--enable", str(FOLDER), "--disable", "kube-scheduler", "--wait")


@pytest.fixture(scope="module")
def cluster(installed: Installed) -> Iterator[Installed]:
    """Share a cluster that was made with the add-on."""
    installed.ok(*CREATE, "180s")
    yield installed
    installed.ok("delete", "cluster")
    assert not (installed.workdir / "clusters" / "kwok").exists()


def test_it_runs_as_a_component_with_rights_of_its_own(cluster: Installed) -> None:
    user = ("--as", "kwokctl:greeter")

    assert greeter_of(cluster)["status"] == "Ready"
    assert page_of(cluster) == "hello from kwok\n"
    assert cluster.kubectl("auth", "can-i", "list", "greetings.example.com", *user) == "yes\n"
    assert cluster.run("kubectl", "auth", "can-i", "list", "secrets", *user).out == "no\n"


def test_its_objects_follow_their_definition(cluster: Installed) -> None:
    text = cluster.ok("kubectl", "get", "greetings", "first", "-o", "jsonpath={.spec.text}")

    assert text == "hello from kwok"


def test_the_api_server_calls_its_webhook(cluster: Installed) -> None:
    demand_refusal(cluster)


def test_it_patches_other_components(cluster: Installed) -> None:
    state = (cluster.workdir / "clusters" / "kwok" / "kwok.yaml").read_text(encoding="utf-8")

    assert "--concurrent-job-syncs=20" in state


def test_its_files_are_those_of_their_owner_alone(cluster: Installed) -> None:
    folder = cluster.workdir / "clusters" / "kwok" / "add-ons" / "greeter"
    files = [path for path in folder.rglob("*") if path.is_file()]

    assert {path.name for path in files} == {"greeting", "tls.crt", "tls.key"}
    assert [path for path in files if path.stat().st_mode & 0o077] == []


def test_the_same_request_again_differs_in_nothing(cluster: Installed) -> None:
    again = cluster.run(*CREATE, "180s", "--fail-on-drift")

    assert (again.code, "other settings" in again.err) == (0, False)


def test_a_fork_has_one_at_ports_of_its_own(cluster: Installed) -> None:
    token = cluster.kubectl("create", "token", "default").strip()
    fork = cluster.called("fork")
    fork.ok("create", "cluster", "--from", "kwok", "--wait", "180s")
    try:
        assert _ports(fork).isdisjoint(_ports(cluster))
        assert asyncio.run(answer_to_token(fork, token)) == HTTPStatus.CREATED
        demand_refusal(fork)
    finally:
        fork.ok("delete", "cluster")


def test_a_rewind_starts_it_anew_with_what_it_had(cluster: Installed) -> None:
    cluster.ok("snapshot", "mark")
    former = cluster.pids()
    cluster.delete("greetings", "first")

    cluster.ok("snapshot", "rewind")

    assert cluster.names("greetings") == ["first"]
    assert greeter_of(cluster)["status"] == "Ready"
    assert cluster.pids()["greeter"] != former["greeter"]
    assert cluster.pids()["kube-apiserver"] == former["kube-apiserver"]
    demand_refusal(cluster)


def test_it_stops_and_starts_with_the_cluster(cluster: Installed) -> None:
    cluster.ok("stop", "cluster")
    cluster.ok("start", "cluster", "--wait", "180s")

    assert greeter_of(cluster)["status"] == "Ready"
    demand_refusal(cluster)


def _ports(cluster: Installed) -> set[int]:
    return {port["hostPort"] for port in greeter_of(cluster)["ports"]}
