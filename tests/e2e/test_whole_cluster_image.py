"""The all-in-one image: its first process without a container around it, and the whole in an engine."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kwokctl.artifacts.versions import DEFAULT_KUBE_VERSION
from tests.support import store
from tests.support.cluster_image import IMAGE, NoImageError, cluster_archive, mounted_sources
from tests.support.engine_command import EngineCommand
from tests.support.installed import PATIENCE, Installed, until
from tests.support.ports import free_port

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
]

FEW = ("--nodes=2", "--disable=kube-controller-manager,kube-scheduler")
ENTRY = Path(__file__).parents[2] / "image" / "cluster_entry.py"


def test_a_cluster_is_made_mended_and_stopped_with_its_container(installed: Installed) -> None:
    log = installed.folder / "container.log"
    with log.open("wb") as output:
        running = subprocess.Popen(
            [sys.executable, ENTRY, *FEW],
            env=installed.environment, stdout=output, stderr=output,
        )  # fmt: skip
    try:
        until("it is made", lambda: "has been started with 2 nodes" in log.read_text())
        before = installed.pids()["kwok-controller"]
        os.kill(before, signal.SIGKILL)

        until(
            "it is started again",
            lambda: installed.pids().get("kwok-controller", before) != before,
        )
        until("all are ready", lambda: installed.statuses() == {"Ready"})
        assert len(installed.objects("nodes")) == 2
    finally:
        running.terminate()
        code = running.wait(PATIENCE)

    assert code == 0
    assert installed.statuses() == {"Stopped"}
    installed.ok("delete", "cluster")


def test_a_wrong_option_ends_the_container_at_once(installed: Installed) -> None:
    done = subprocess.run(
        [sys.executable, ENTRY, "--nods=2"],
        env=installed.environment, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip

    assert done.returncode == 2
    assert "did you mean '--nodes'?" in done.stderr


@pytest.fixture
def image(engine: str, installed: Installed, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The archive of the image; skips where Debian's packages or wheels are not available."""
    monkeypatch.setenv("DOCKER_HOST", engine)
    try:
        return cluster_archive(installed.environment)
    except NoImageError as e:
        pytest.skip(f"no image of a whole cluster: {e}")


@pytest.mark.docker
def test_an_engine_loads_the_image_and_runs_a_cluster_until_it_is_stopped(
    image: Path, installed: Installed
) -> None:
    docker, port = EngineCommand("docker"), free_port()
    docker.words("load", "--input", str(image))
    docker.words("network", "create", "whole")  # engines of the tests have none by default
    run = ("run", "--detach", "--name", "whole", "--network", "whole")
    published = ("--publish", f"127.0.0.1:{port}:6443")
    docker.words(*run, *published, *mounted_sources(), IMAGE.tag, *FEW)
    try:
        until(
            "it is made", lambda: "started with 2 nodes" in "\n".join(docker.lines("logs", "whole"))
        )
        kubeconfig = installed.folder / "whole.yaml"
        kubeconfig.write_text(docker.result("exec", "whole", "kwokctl", "get", "kubeconfig"))
        kubectl = asyncio.run(store.program("kubectl", DEFAULT_KUBE_VERSION))
        at = ("--kubeconfig", kubeconfig, "--server", f"https://127.0.0.1:{port}")
        nodes = subprocess.run(
            [kubectl, *at, "get", "nodes", "-o", "name"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert nodes.stderr == ""
        assert nodes.stdout.split() == ["node/node-000000", "node/node-000001"]
        kubeconfig.unlink()

        docker.words("stop", "whole")
        assert docker.words("inspect", "--format", "{{.State.ExitCode}}", "whole") == ["0"]
    finally:
        docker.words("rm", "--force", "whole")
        docker.words("network", "rm", "whole")
        docker.words("rmi", IMAGE.tag)
