"""Documents whose every command is run, in their order, as they stand."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.installed import Installed, condition, kubeconfig_names
from tests.support.tour import commands, script

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
]

ROOT = Path(__file__).parents[2]


def test_the_first_command_of_the_readme_does_the_main_job(installed: Installed) -> None:
    assert "--nodes 1000 --pods 2000 --wait" in made_by_demo(installed, "--dry-run")

    # The numbers are no part of what can fail here, and most of what it costs.
    said = made_by_demo(installed, "NODES=50", "PODS=100")

    assert "50 nodes are Ready and 100 pods are Running" in said
    assert "kwokctl delete cluster" in said
    nodes, pods = installed.objects("nodes"), installed.objects("pods")
    assert [len(nodes), len(pods)] == [50, 100]
    assert {pod["status"]["phase"] for pod in pods} == {"Running"}
    assert {condition(node, "Ready") for node in nodes} == {"True"}
    installed.ok("delete", "cluster")


def made_by_demo(installed: Installed, *words: str) -> str:
    """Run `make demo`, which must succeed, and return what it prints."""
    # The environment is the one that runs this test, and counts as up to date.
    done = subprocess.run(
        ["make", "demo", f"VENV={sys.prefix}", "-o", f"{sys.prefix}/made", *words],
        cwd=ROOT,
        env=installed.environment,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


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


def test_the_script_of_the_ci_page_keeps_the_logs_of_a_failure_and_leaves_no_cluster(
    installed: Installed,
) -> None:
    page = (ROOT / "docs/how-to/run-in-ci.md").read_text(encoding="utf-8")
    [script_of_the_page] = re.findall(r"^```bash\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    place = installed.folder / "ci"
    place.mkdir()

    done = subprocess.run(
        ["bash", "-c", script_of_the_page + "exit 3  # a test of the job's that fails\n"],
        cwd=place,
        env=installed.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )

    assert done.returncode == 3, done.stdout[-2000:] + done.stderr[-4000:]
    logs = place / "kwokctl-logs"
    components = [each["name"] for each in json.loads((logs / "components.json").read_bytes())]
    assert "etcd" in components
    assert all((logs / "ci/components" / f"{name}.log").stat().st_size for name in components)
    assert "cluster 'ci' is deleted" in done.stderr
    assert list(installed.temporary.glob("tmp.*")) == []
    assert kubeconfig_names(installed.kubeconfig)["contexts"] == ["elsewhere"]
