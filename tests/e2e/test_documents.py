"""Documents whose every command is run, in their order, as they stand."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.installed import Installed, condition, kubeconfig_names
from tests.support.tour import commands, script

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(300, func_only=True),
]

ROOT = Path(__file__).parents[2]


def test_the_first_command_of_the_readme_does_the_main_job(installed: Installed) -> None:
    # The environment is the one that runs this test, and counts as up to date.
    made = f"{sys.prefix}/made"
    done = subprocess.run(
        ["make", "demo", f"VENV={sys.prefix}", "-o", made],
        cwd=ROOT,
        env=installed.environment,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "kwokctl delete cluster" in done.stdout
    nodes, pods = installed.objects("nodes"), installed.objects("pods")
    assert [len(nodes), len(pods)] == [1000, 2000]
    assert {pod["status"]["phase"] for pod in pods} == {"Running"}
    assert {condition(node, "Ready") for node in nodes} == {"True"}
    installed.ok("delete", "cluster")


@pytest.mark.parametrize("document", ["README.md", "docs/tutorial.md"])
def test_every_command_of_the_document_works(installed: Installed, document: str) -> None:
    installed.ok("delete", "cluster", "--all")
    place = installed.folder / Path(document).stem
    place.mkdir()

    done = subprocess.run(
        ["bash", "-c", script(ROOT / document)],
        cwd=place,
        env=installed.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )

    assert len(list(commands(ROOT / document))) >= 10
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert "failed:" not in done.stderr
    # Documents clean up after themselves.
    assert installed.ok("get", "clusters") == ""
    assert installed.processes() == {}
    assert kubeconfig_names(installed.kubeconfig)["contexts"] == ["elsewhere"]
    assert list(place.iterdir()) == []
