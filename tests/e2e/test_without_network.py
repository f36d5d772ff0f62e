"""A machine without any network: an empty home, and a network namespace with nothing but loopback."""

import subprocess
from pathlib import Path

import pytest

from tests.support.installed import Installed, command
from tests.support.no_network import without_network

pytestmark = [pytest.mark.components, pytest.mark.e2e, pytest.mark.timeout(600)]


@pytest.fixture
def alone() -> list[str]:
    """Return the words that run a command without a network."""
    return without_network()


def test_a_folder_makes_clusters_on_a_machine_that_has_no_network(
    installed: Installed, alone: list[str], tmp_path: Path
) -> None:
    folder = tmp_path / "carried"
    installed.ok("artifacts", "pull", "--to", str(folder))
    environment = installed.environment | {
        "HOME": str(tmp_path / "home"),
        "XDG_CACHE_HOME": str(tmp_path / "home" / "cache"),
    }
    kwokctl = " ".join(command())
    steps = (
        f"{kwokctl} artifacts add {folder}",
        f"{kwokctl} create cluster --name air --wait --nodes 1 --artifact-source offline",
        f"{kwokctl} --name air kubectl get nodes -o name",
        f"{kwokctl} delete cluster --name air",
    )
    done = subprocess.run(
        [*alone, "sh", "-c", " && ".join(steps)],
        env={name: value for name, value in environment.items() if not name.endswith("_BINARY")},
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    assert "node/node-000000\n" in done.stdout
