"""How a creation ends that does not go through, and what it leaves behind."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from os import kill
from pathlib import Path
from signal import SIGHUP, SIGINT, SIGKILL

import pytest

from tests.support.gap import port_taken_in_the_gap
from tests.support.installed import (
    PATIENCE,
    Installed,
    command,
    end,
    kubeconfig_names,
    listens,
    taken_port,
    until,
)

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
]

CREATE = ("create", "cluster", "--wait", "180s")

MOMENTS: dict[str, Callable[[Path], bool]] = {
    "folder made": lambda cluster: cluster.is_dir(),
    "first program launched": lambda cluster: any(cluster.glob("pids/*.pid")),
    "API server up": lambda cluster: (cluster / "pids" / "kube-scheduler.pid").exists(),
}
"""Moments of a creation, recognized from outside by what is in the cluster's folder."""

IN_TERMINAL = """
import fcntl, os, signal, sys, termios
signal.signal(signal.SIGHUP, signal.SIG_DFL)
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execvp(sys.argv[1], sys.argv[1:])
"""
"""Makes the terminal on standard input that of the session, and becomes a command in it."""

moments = pytest.mark.parametrize("moment", MOMENTS.values(), ids=MOMENTS.keys())


@pytest.fixture(autouse=True)
def _alone(installed: Installed) -> Iterator[None]:
    """Take away what a test that failed has left: the next one would fail for that reason alone."""
    yield
    if any((installed.workdir / "clusters").glob("*")):
        installed.run("delete", "cluster", "--all", "--force")


def interrupted(
    cluster: Installed,
    moment: Callable[[Path], bool],
    number: int,
    words: Sequence[str] = CREATE,
) -> tuple[int, str]:
    """Start a creation and signal it at a moment; return its exit code and what it said."""
    creation = cluster.start(*words)
    folder = cluster.workdir / "clusters" / cluster.name
    try:
        until("that moment", lambda: moment(folder) or creation.poll() is not None)
        assert creation.poll() is None
        kill(creation.pid, number)
        said = creation.communicate(timeout=180)[1]
    finally:
        if creation.poll() is None:
            end(creation)
    return creation.returncode, said


def assert_nothing_is_left(cluster: Installed) -> None:
    assert cluster.processes() == {}
    assert cluster.files() == {"kubeconfig"}
    assert kubeconfig_names(cluster.kubeconfig)["contexts"] == ["elsewhere"]


@moments
def test_an_interrupted_creation_undoes_what_it_made(
    installed: Installed, moment: Callable[[Path], bool]
) -> None:
    kubeconfig = installed.kubeconfig.read_text()

    code, said = interrupted(installed.called("interrupted"), moment, SIGINT)

    assert code == 130
    assert "Traceback" not in said
    assert_nothing_is_left(installed)
    assert installed.kubeconfig.read_text() == kubeconfig


def test_a_creation_whose_terminal_is_closed_undoes_what_it_made(installed: Installed) -> None:
    cluster = installed.called("hung-up")
    terminal, inside = os.openpty()
    creation = subprocess.Popen(
        [sys.executable, "-c", IN_TERMINAL, *command(), "--name", cluster.name, *CREATE],
        env=cluster.environment, stdin=inside, stdout=inside, stderr=inside, start_new_session=True,
    )  # fmt: skip
    os.close(inside)
    try:
        pids = cluster.workdir / "clusters" / cluster.name / "pids"
        until("a program was launched", lambda: any(pids.glob("*.pid")))
    finally:
        os.close(terminal)

    assert creation.wait(PATIENCE) == 128 + SIGHUP
    assert_nothing_is_left(installed)


@moments
def test_a_killed_creation_is_continued_by_the_next(
    installed: Installed, moment: Callable[[Path], bool]
) -> None:
    cluster = installed.called("killed")
    interrupted(cluster, moment, SIGKILL)

    cluster.ok(*CREATE)

    assert {component["status"] for component in cluster.components().values()} == {"Ready"}
    assert len(cluster.processes()) == len(cluster.components())
    cluster.run_pod("first")
    cluster.ok("delete", "cluster")
    assert cluster.processes() == {}
    assert cluster.files() == {"kubeconfig"}


def test_a_killed_fork_is_neither_started_nor_gone_on_with(installed: Installed) -> None:
    source, fork = installed.called("source"), installed.called("fork")
    source.ok(*CREATE, "--components", "etcd,kube-apiserver")
    copy = ("create", "cluster", "--from", "source")
    interrupted(fork, MOMENTS["first program launched"], SIGKILL, copy)

    for words in (("start", "cluster"), copy, CREATE):
        assert "'fork' is half made" in fork.refused(*words)
    fork.ok("delete", "cluster")
    fork.ok(*copy)

    fork.ok("start", "cluster")
    assert {component["status"] for component in fork.components().values()} == {"Ready"}
    installed.ok("delete", "cluster", "--all")
    assert_nothing_is_left(installed)


def test_two_creations_at_once_do_not_meet(installed: Installed) -> None:
    left, right = installed.called("left"), installed.called("right")
    creations = [left.start(*CREATE), right.start(*CREATE)]

    said = [creation.communicate(timeout=120) for creation in creations]

    assert [creation.returncode for creation in creations] == [0, 0], said
    assert not left.ports() & right.ports()
    assert sorted(installed.ok("get", "clusters").split()) == ["left", "right"]
    installed.ok("delete", "cluster", "--all")
    assert installed.processes() == {}
    assert installed.files() == {"kubeconfig"}


def test_a_port_that_another_program_has_is_named(installed: Installed) -> None:
    with taken_port() as port:
        said = installed.refused(*CREATE, "--kube-apiserver-port", str(port))

    assert str(port) in said
    assert_nothing_is_left(installed)


@pytest.mark.parametrize("component", ["etcd", "kube-scheduler", "kwok-controller"])
def test_a_port_that_is_taken_between_its_choice_and_the_start_is_named(
    installed: Installed, component: str
) -> None:
    """Also for what is started last, which this test does not wait for."""
    flag = f"--{component.removeprefix('kwok-')}-port"
    with port_taken_in_the_gap(installed) as port:
        said = installed.refused("create", "cluster", flag, str(port))

    assert f"port {port}, wanted for '{component}', is in use by 'python" in said
    assert "end the program that uses it" in said
    assert_nothing_is_left(installed)


def test_a_program_that_exits_at_once_is_reported_with_its_last_log_lines(
    installed: Installed,
) -> None:
    said = installed.refused(*CREATE, "--extra-args", "etcd=no-such-flag=1")

    assert "etcd" in said
    assert "flag provided but not defined: -no-such-flag" in said
    assert_nothing_is_left(installed)


def test_a_failed_creation_is_kept_on_request_and_can_be_removed(installed: Installed) -> None:
    cluster = installed.called("kept")
    bad = ("--extra-args", "kube-scheduler=no-such-flag=1", "--keep-on-failure")

    said = cluster.refused(*CREATE, *bad)

    assert "kube-scheduler" in said
    assert "unknown flag: --no-such-flag" in said
    assert "unknown flag" in cluster.ok("logs", "kube-scheduler")
    assert cluster.components()["kube-scheduler"]["status"] == "Stopped"
    cluster.ok("delete", "cluster")
    assert cluster.processes() == {}
    assert cluster.files() == {"kubeconfig"}


def test_a_wait_that_is_too_short_fails_and_names_the_components_that_were_not_ready(
    installed: Installed,
) -> None:
    said = installed.refused("create", "cluster", "--wait", "100ms")

    assert "kube-apiserver" in said
    assert_nothing_is_left(installed)


def test_the_missing_program_is_named(installed: Installed) -> None:
    said = installed.refused(*CREATE, KWOK_ETCD_BINARY="/no/such/etcd")

    assert "/no/such/etcd" in said
    assert_nothing_is_left(installed)


def test_commands_that_need_a_cluster_fail_when_it_does_not_exist(
    installed: Installed,
) -> None:
    absent = installed.called("absent")

    for words in (["start", "cluster"], ["stop", "cluster"], ["kubectl", "get", "pods"]):
        assert "absent" in absent.refused(*words)


def test_nodes_and_pods_are_created_with_the_cluster_and_none_deleted_by_repeating_it(
    installed: Installed,
) -> None:
    cluster = installed.called("peopled")
    words = (*CREATE, "--profile", "small", "-o", "json")
    made = json.loads(cluster.ok(*words, "--nodes", "30", "--pods", "40"))
    assert (made["changed"], [each["created"] for each in made["result"]["scaled"]]) == (
        True,
        [30, 40],
    )
    assert {pod["status"]["phase"] for pod in cluster.objects("pods")} == {"Running"}
    _check_profile_small(cluster)

    again = cluster.run(*words, "--nodes", "10", "--pods", "40")

    assert json.loads(again.out)["changed"] is False
    assert "there are 30 nodes, more than '--nodes 10' asks for: none was deleted" in again.err
    assert len(cluster.objects("nodes")) == 30

    found = json.loads(cluster.ok("env", "-o", "json"))
    assert all(Path(found[name]).is_file() for name in found if name != "ETCDCTL_ENDPOINTS")
    cluster.ok("delete", "cluster")


def _check_profile_small(cluster: Installed) -> None:
    """Read from the running programs what the profile sets."""
    pids = cluster.pids()
    flags = {name: _text(f"/proc/{pid}/cmdline") for name, pid in pids.items()}

    assert f"--quota-backend-bytes={1 << 30}" in flags["etcd"]
    assert "--max-mutating-requests-inflight=0" in flags["kube-apiserver"]
    assert "--pod-play-stage-parallelism=16" in flags["kwok-controller"]
    assert "GOGC=100" in _text(f"/proc/{pids['kube-apiserver']}/environ")
    assert "node-monitor-grace-period" not in flags["kube-controller-manager"]


def _text(file: str) -> list[str]:
    return Path(file).read_text(encoding="utf-8").split("\0")


def test_components_listen_on_the_requested_addresses_and_are_found_there(
    installed: Installed,
) -> None:
    cluster, address = installed.called("elsewhere"), "127.0.0.2"

    cluster.ok(*CREATE, "--disable", "kube-scheduler", "--bind-address", address)

    assert "kube-scheduler" not in cluster.components()
    assert all(listens(port, address) for port in cluster.ports())
    assert not any(listens(port) for port in cluster.ports())
    cluster.ok("scale", "node", "--replicas", "30", "--wait", "180s")
    assert cluster.ok("etcdctl", "get", "--prefix", "--count-only", "--write-out=fields", "/")
    _follow_a_log(cluster)
    cluster.ok("delete", "cluster")


def _follow_a_log(cluster: Installed) -> None:
    follower = cluster.start("logs", "kube-apiserver", "--follow")
    try:
        assert follower.stdout
        assert follower.stdout.readline()
        assert follower.poll() is None
    finally:
        said = end(follower)
    assert "Traceback" not in said


def test_an_address_of_another_machine_is_refused(installed: Installed) -> None:
    done = installed.run(*CREATE, "--bind-address", "192.0.2.1")

    assert done.code == 2
    assert "'192.0.2.1' is not an address of this machine" in done.err
    assert_nothing_is_left(installed)
