"""What happens to a cluster in containers: each step stands on those before it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import engines
from tests.support.engine_command import EngineCommand
from tests.support.gap import port_taken_in_the_gap
from tests.support.greeter import demand_refusal, folder_for_containers, page_of
from tests.support.installed import Installed, taken_port, until
from tests.support.relay import relay

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.docker,
    pytest.mark.story,
    pytest.mark.timeout(600, func_only=True),
]

IN_CONTAINERS = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"]
CREATE = ("create", "cluster", "--runtime", "docker", "--artifact-source", "build")
"""Images are made from programs here, whatever a registry would have."""
docker = EngineCommand("docker")
NOWHERE = "unix:///nowhere/engine.sock"


@pytest.fixture(scope="module")
def daemon(own_docker: engines.Daemon) -> Iterator[engines.Daemon]:
    """An engine of the tests' own: it is restarted in the story."""
    with engines.named(own_docker, "DOCKER_HOST") as daemon:
        yield daemon


@pytest.fixture(scope="module")
def main(
    daemon: engines.Daemon, installed: Installed, tmp_path_factory: pytest.TempPathFactory
) -> Installed:
    main = installed.called("main")
    add_on = folder_for_containers(tmp_path_factory.mktemp("add-on"))
    main.ok(*CREATE, "--enable", str(add_on), "--wait")
    main.ok("scale", "node", "--replicas", "100", "--wait")
    return main


def nodes(cluster: Installed) -> int:
    return len(cluster.objects("nodes"))


def test_an_add_on_runs_in_an_image_made_of_its_program_and_its_webhook_is_asked(
    main: Installed,
) -> None:
    assert "kwok-main-greeter" in docker.containers()
    assert page_of(main) == "hello from main\n"
    assert (
        main.kubectl("get", "greetings", "first", "-o", "jsonpath={.spec.text}")
        == "hello from main"
    )
    demand_refusal(main)


def test_a_log_is_followed_across_a_restart_of_its_container(main: Installed) -> None:
    scheduler = "kwok-main-kube-scheduler"
    follower = main.start("logs", "-f", "kube-scheduler")
    try:
        for _ in range(2):
            docker.words("restart", "--time", "5", scheduler)
        written = docker.lines("logs", scheduler)
        assert follower.stdout
        heard = [follower.stdout.readline().rstrip("\n") for _ in written]
    finally:
        follower.kill()
        follower.communicate()

    assert heard == written


def test_a_cluster_on_this_host_runs_beside_those_in_containers(main: Installed) -> None:
    here = main.called("here")
    here.ok("create", "cluster", "--runtime", "binary", "--wait")

    assert here.statuses() == {"Ready"}
    here.ok("delete", "cluster")


def test_create_reports_a_taken_port_and_leaves_nothing_behind(main: Installed) -> None:
    third = main.called("third")
    with taken_port() as port:
        words = (*CREATE, "--etcd-port", str(port))
        assert str(port) in third.refused(*words)

    assert not [name for name in docker.containers() if "third" in name]
    assert "third" not in third.ok("get", "clusters").split()


def test_a_port_that_is_taken_between_its_choice_and_the_start_is_named(main: Installed) -> None:
    third = main.called("third")
    with port_taken_in_the_gap(third) as port:
        said = third.refused(*CREATE, "--kube-scheduler-port", str(port))

    assert f"port {port}, wanted for 'kube-scheduler', is in use by 'python" in said
    assert "end the program that uses it" in said
    assert not [name for name in docker.containers() if "third" in name]
    assert "third" not in third.ok("get", "clusters").split()


def test_a_killed_container_shows_as_stopped_and_start_revives_it(main: Installed) -> None:
    docker.words("kill", "kwok-main-kube-scheduler")

    scheduler = main.components()["kube-scheduler"]
    assert scheduler["status"] == "Stopped"
    assert scheduler["message"].strip()

    main.ok("start", "cluster", "--wait", "180s")
    assert main.statuses() == {"Ready"}


def test_a_removed_container_is_recreated_and_the_data_stay(main: Installed) -> None:
    docker.words("rm", "--force", "kwok-main-etcd")

    main.ok("start", "cluster", "--wait", "180s")

    assert nodes(main) == 100


def test_a_removed_network_is_recreated(main: Installed) -> None:
    main.ok("stop", "cluster")
    docker.words("network", "rm", "kwok-main")

    main.ok("start", "cluster", "--wait", "180s")

    assert main.statuses() == {"Ready"}


def test_an_engine_that_does_not_answer_is_named_with_a_remedy(main: Installed) -> None:
    for words in (("start", "cluster"), ("delete", "cluster")):
        said = main.refused(*words, DOCKER_HOST=NOWHERE)
        assert f"no container engine answers at '{NOWHERE}'" in said
        assert "DOCKER_HOST" in said


def test_a_cluster_is_started_again_after_a_restart_of_the_engine(
    main: Installed, daemon: engines.Daemon
) -> None:
    daemon.restart()
    until("the components show as Stopped", lambda: "Stopped" in main.statuses())

    main.ok("start", "cluster", "--wait", "180s")

    assert main.statuses() == {"Ready"}
    assert nodes(main) == 100


def test_etcd_is_reached_with_a_certificate_where_no_socket_can_be_shared(
    main: Installed, daemon: engines.Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    with relay(daemon.url.removeprefix("unix://")) as port:
        monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{port}")
        far = main.called("far")
        far.ok(*CREATE, "--wait")
        far.ok("scale", "node", "--replicas", "50", "--wait")
        assert "writing statuses and leases to etcd at '127.0.0.1:" in far.ok(
            "logs", "kwok-controller"
        )

        path = str(main.folder / "far.db")
        far.ok("snapshot", "save", "--path", path)
        far.ok("scale", "node", "--replicas", "0")
        far.ok("snapshot", "restore", "--path", path)
        Path(path).unlink()

        assert nodes(far) == 50
        far.ok("delete", "cluster")


def test_a_cluster_whose_state_is_garbled_is_deleted_by_force(main: Installed) -> None:
    main.ok(*CREATE)
    (main.workdir / "clusters" / "main" / "kwok.yaml").write_text("garbled")

    main.ok("delete", "cluster", "--force")

    assert docker.containers() == []
    assert main.processes() == {}
    assert main.files() == {"kubeconfig"}
