"""The first process of the all-in-one image, without a container around it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.installed import PATIENCE, Installed, until

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
]

ENTRY = Path(__file__).parents[2] / "image" / "cluster_entry.py"


def test_a_cluster_is_made_mended_and_stopped_with_its_container(installed: Installed) -> None:
    words = ("--nodes=2", "--disable=kube-controller-manager,kube-scheduler")
    log = installed.folder / "container.log"
    with log.open("wb") as output:
        running = subprocess.Popen(
            [sys.executable, ENTRY, *words],
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
