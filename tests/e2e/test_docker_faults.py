"""What can go wrong with components in containers: each is reported with a hint, and leaves nothing."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.installed import Installed, scripts, taken_port
from tests.support.ports import free_port

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.docker,
    pytest.mark.timeout(600, func_only=True),
]

SMALL = (
    "--runtime",
    "docker",
    "--artifact-source",
    "build",
    "--disable",
    "kube-controller-manager",
)
"""A cluster that is quickly made, from programs, whatever a registry would have."""
CREATE = ("create", "cluster", *SMALL)
NOWHERE = "unix:///nowhere/engine.sock"
NOBODY = 65534


@pytest.fixture
def cluster(
    engine: str, installed: Installed, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Installed]:
    monkeypatch.setenv("DOCKER_HOST", engine)
    cluster = installed.called("faults")
    yield cluster
    cluster.run("delete", "cluster", "--force")


def docker(*words: str) -> list[str]:
    done = subprocess.run(
        ["docker", *words], capture_output=True, text=True, timeout=180, check=True
    )
    return done.stdout.split()


def leftovers(cluster: Installed) -> set[str]:
    """Return what there is of the cluster: containers, a network, a folder."""
    found = docker("ps", "--all", "--format", "{{.Names}}")
    found += docker("network", "ls", "--format", "{{.Name}}")
    folder = cluster.workdir / "clusters" / cluster.name
    return {name for name in found if f"kwok-{cluster.name}" in name} | {
        str(path) for path in [folder] if path.exists()
    }


def test_limits_reach_the_engine(cluster: Installed) -> None:
    cluster.ok(*CREATE, "--memory-limit", "2Gi", "--cpu-limit", "kube-scheduler=1.5")

    limits = "{{.HostConfig.Memory}} {{.HostConfig.NanoCpus}}"
    assert docker("inspect", "--format", limits, f"kwok-{cluster.name}-kube-scheduler") == [
        str(2 * 1024**3), "1500000000",
    ]  # fmt: skip
    assert docker("inspect", "--format", limits, f"kwok-{cluster.name}-etcd") == [
        str(2 * 1024**3), "0",
    ]  # fmt: skip


def test_processes_have_no_limits(cluster: Installed) -> None:
    done = cluster.run("create", "cluster", "--runtime", "binary", "--memory-limit", "1Gi")

    assert done.code == 2
    assert "processes of this machine" in done.err
    assert leftovers(cluster) == set()


def test_start_reports_a_port_that_was_taken_while_the_cluster_was_stopped(
    cluster: Installed,
) -> None:
    port = free_port()
    cluster.ok(*CREATE, "--wait=180s", "--etcd-port", str(port))
    cluster.ok("stop", "cluster")

    with taken_port(port):
        assert str(port) in cluster.refused("start", "cluster")

    cluster.ok("start", "cluster", "--wait=180s")


def test_a_user_without_access_to_the_engine_gets_a_hint(cluster: Installed, engine: str) -> None:
    if os.getuid() != 0 or not engine.startswith("unix://"):
        pytest.skip("only root can become a user who may not use the engine")
    done = subprocess.run(
        ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--",
         f"{scripts()}/kwokctl", "create", "cluster", "--runtime", "docker", "--kubeconfig="],
        env=cluster.environment | {"KWOK_WORKDIR": "/tmp/nobody", "HOME": "/nonexistent", "KUBECONFIG": ""},
        capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip

    if "Permission denied" in done.stderr and "engine" not in done.stderr:
        pytest.skip("nobody may not read this checkout")
    assert done.returncode == 1
    assert "refuses this user" in done.stderr
    assert "'docker'" in done.stderr


def test_create_reports_a_full_volume_with_the_log_of_etcd_and_leaves_nothing_behind(
    cluster: Installed,
) -> None:
    with _small_volume(cluster.workdir.with_name("small")) as small:
        said = cluster.refused(*CREATE, "--wait=180s", KWOK_WORKDIR=str(small))

        assert "'etcd' has exited" in said
        assert "no space left on device" in said
        assert list((small / "clusters").iterdir()) == []
    assert leftovers(cluster) == set()


@contextmanager
def _small_volume(folder: Path) -> Iterator[Path]:
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(folder)]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        folder.rmdir()
        pytest.skip("no volume can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)
        folder.rmdir()


def test_delete_without_the_engine_needs_force_and_names_what_stays(cluster: Installed) -> None:
    cluster.ok(*CREATE)
    folder = cluster.workdir / "clusters" / cluster.name
    assert "--force" in cluster.refused("delete", "cluster", DOCKER_HOST=NOWHERE)
    assert folder.exists()

    done = cluster.run("delete", "cluster", "--force", DOCKER_HOST=NOWHERE)

    assert done.code == 0
    assert "etcd, kube-apiserver, kube-scheduler" in done.err
    assert not [words for words in cluster.processes().values() if "kwokctl.controller" in words]
    assert not folder.exists()
    stays = [name for name in leftovers(cluster) if name != f"kwok-{cluster.name}"]
    assert sorted(stays) == [
        f"kwok-{cluster.name}-{name}" for name in ("etcd", "kube-apiserver", "kube-scheduler")
    ]
    docker("rm", "--force", "--volumes", *stays)
    docker("network", "rm", f"kwok-{cluster.name}")
