"""A cluster that an earlier release has created starts with this one, and has its objects."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.installed import Installed

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
]

STATES = sorted((Path(__file__).parents[1] / "golden/releases").glob("*.yaml"))
NAME = "first"
OF_THIS_MACHINE = ("Port", "Version")
"""The endings of options that were chosen for the machine on which the cluster was created."""


def as_here(before: list[Any], now: list[Any]) -> str:
    """Return the state file of an earlier release with the programs, ports and versions of a cluster here."""
    options, chosen = before[0]["options"], now[0]["options"]
    options |= {key: chosen[key] for key in options if key.endswith(OF_THIS_MACHINE)}
    components = {each["name"]: each for each in now[0]["components"]}
    for each in before[0]["components"]:
        here = components[each["name"]]
        each |= {"command": here["command"], "version": here["version"]}
    return yaml.safe_dump_all(before, sort_keys=False)


@pytest.mark.parametrize("state", STATES, ids=lambda path: path.stem)
def test_a_cluster_of_an_earlier_release_starts_with_its_objects(
    installed: Installed, state: Path
) -> None:
    cluster = installed.called(NAME)
    cluster.ok("create", "cluster", "--wait", "--nodes", "2")
    cluster.ok("stop", "cluster")
    file = installed.workdir / "clusters" / NAME / "kwok.yaml"
    folder = str(installed.workdir.parent)
    written = state.read_text(encoding="utf-8").replace("@HOME@/.kwok", str(installed.workdir))
    before = list(yaml.safe_load_all(written.replace("@HOME@", folder)))

    file.write_text(as_here(before, list(yaml.safe_load_all(file.read_text("utf-8")))), "utf-8")
    cluster.ok("start", "cluster", "--wait")

    assert len(cluster.objects("nodes")) == 2
    schedulers = [words for words in cluster.processes().values() if "kube-scheduler" in words]
    assert any("--v=4" in words for words in schedulers)
    cluster.ok("scale", "node", "--replicas", "3", "--wait")
    cluster.ok("delete", "cluster")
