"""The runtime of `docs/how-to/write-a-runtime.md`: installed as it stands there, with a whole cluster on it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.installed import Installed, condition
from tests.support.runtime_page import NAME, files

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
]


@pytest.fixture(scope="module")
def cluster(installed: Installed, written_runtime: Path) -> Iterator[Installed]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(written_runtime))
        installed.ok("create", "cluster", "--runtime", NAME, "--wait")
        yield installed
        installed.ok("delete", "cluster")


def test_the_page_shows_one_small_package() -> None:
    lines = [line for text in files().values() for line in text.splitlines()]

    assert sorted(files()) == ["kwokctl_polite.py", "pyproject.toml"]
    assert len(lines) < 150


def test_a_cluster_on_it_runs_scales_stops_and_starts_again(cluster: Installed) -> None:
    assert {each["status"] for each in cluster.components().values()} == {"Ready"}
    ours = os.getpriority(os.PRIO_PROCESS, 0)
    assert all(os.getpriority(os.PRIO_PROCESS, pid) > ours for pid in cluster.pids().values())

    cluster.ok("scale", "node", "--replicas", "30", "--wait")
    cluster.ok("scale", "pod", "--replicas", "60", "--wait")
    cluster.ok("stop", "cluster")
    cluster.ok("start", "cluster", "--wait")

    nodes, pods = cluster.objects("nodes"), cluster.objects("pods")
    assert [condition(node, "Ready") for node in nodes] == ["True"] * 30
    assert [pod["status"]["phase"] for pod in pods] == ["Running"] * 60
    assert "kube-scheduler" in cluster.ok("logs", "kube-scheduler")

    cluster.ok("delete", "cluster")
    assert cluster.processes() == {}
    assert cluster.files() == {"kubeconfig"}


def test_it_is_offered_beside_those_that_kwokctl_brings(cluster: Installed) -> None:
    refused = cluster.run("create", "cluster", "--runtime", "elsewhere")

    assert refused.code == 2
    assert NAME in refused.err
