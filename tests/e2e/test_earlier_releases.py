"""Files of earlier releases are used as they are: a cluster, its mark, a snapshot, objects, a recording."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from kwokctl.artifacts.versions import DEFAULT_KUBE_VERSION
from tests.support.earlier_releases import (
    KUBE_VERSION,
    MARK,
    NAME,
    NODE,
    NODES,
    PODS,
    PODS_AT_MARK,
    RELEASES,
    adopt,
)
from tests.support.installed import Installed, condition, processes_with, until

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.story(by="files"),
    pytest.mark.skipif(
        (os.environ.get("KWOKCTL_TEST_KUBE_VERSION") or DEFAULT_KUBE_VERSION) != KUBE_VERSION,
        reason=f"the cluster is of Kubernetes {KUBE_VERSION}",
    ),
    pytest.mark.timeout(600, func_only=True),
]


@pytest.fixture(scope="module")
def cluster(installed: Installed) -> Installed:
    return installed.called(NAME)


@pytest.fixture(scope="module", params=RELEASES)
def files(cluster: Installed, request: pytest.FixtureRequest) -> Iterator[Path]:
    """The files beside the cluster, which is among those of the work folder."""
    former = adopt(request.param, cluster)
    yield former
    if folder_of(cluster).exists():
        cluster.ok("delete", "cluster")
    shutil.rmtree(former)


def folder_of(cluster: Installed) -> Path:
    return cluster.workdir / "clusters" / cluster.name


def names(cluster: Installed, kind: str) -> set[str]:
    return {each["metadata"]["name"] for each in cluster.objects(kind)}


def annotations(cluster: Installed, pod: str) -> dict[str, str]:
    (found,) = cluster.objects("pods", f"--field-selector=metadata.name={pod}")
    return dict(found["metadata"].get("annotations", {}))


def until_ready(cluster: Installed, pods: int) -> None:
    def are_ready() -> bool:
        found = cluster.objects("pods")
        running = [pod for pod in found if pod["status"]["phase"] == "Running"]
        return len(found) == len(running) == pods

    until(f"{pods} pods run", are_ready)


def test_a_cluster_starts_with_all_that_it_had(cluster: Installed, files: Path) -> None:
    cluster.ok("start", "cluster", "--wait")

    assert len(names(cluster, "nodes")) == NODES
    assert "kept" in names(cluster, "configmaps")
    until_ready(cluster, PODS)
    assert annotations(cluster, "pod-000000")["seen"] == "yes"
    schedulers = [words for words in cluster.processes().values() if "kube-scheduler" in words]
    assert any("--v=4" in words for words in schedulers)


def test_its_pods_are_played_by_its_own_stage(cluster: Installed, files: Path) -> None:
    cluster.label("pod", "pod-000001", "watched=yes")

    until("the Stage was played", lambda: annotations(cluster, "pod-000001").get("seen"))


def test_a_mark_is_gone_back_to(cluster: Installed, files: Path) -> None:
    cluster.label("node", NODE, "changed=yes")
    cluster.ok("snapshot", "rewind", MARK)

    (node,) = cluster.objects("nodes", f"--field-selector=metadata.name={NODE}")
    assert "changed" not in node["metadata"]["labels"]
    assert "kept" not in names(cluster, "configmaps")
    until_ready(cluster, PODS_AT_MARK)
    assert "seen" not in annotations(cluster, "pod-000000")


def test_a_recording_is_replayed(cluster: Installed, files: Path) -> None:
    cluster.ok("snapshot", "replay", "--path", str(files / "record.yaml"))

    assert "kept" in names(cluster, "configmaps")
    until_ready(cluster, PODS)


def test_it_stops_and_starts_with_the_objects_of_a_snapshot(
    cluster: Installed, files: Path
) -> None:
    cluster.ok("scale", "pod", "--replicas", "1")
    cluster.ok("stop", "cluster")
    assert not processes_with(str(folder_of(cluster)))
    cluster.ok("snapshot", "restore", "--path", str(files / "snapshot.db"))

    assert len(names(cluster, "nodes")) == NODES
    until_ready(cluster, PODS)
    assert annotations(cluster, "pod-000000")["seen"] == "yes"


def test_objects_are_restored(cluster: Installed, files: Path) -> None:
    cluster.delete("configmap", "kept")
    cluster.ok("snapshot", "restore", "--format", "k8s", "--path", str(files / "objects.yaml"))

    assert "kept" in names(cluster, "configmaps")
    until_ready(cluster, PODS)


def test_a_set_goes_on_from_its_last_number(cluster: Installed, files: Path) -> None:
    cluster.ok("scale", "node", "--replicas", str(NODES + 1))

    assert f"node-{NODES:06}" in names(cluster, "nodes")


def test_faults_come_to_it_and_go(cluster: Installed, files: Path) -> None:
    def has_pressure() -> bool:
        (node,) = cluster.objects("nodes", f"--field-selector=metadata.name={NODE}")
        return condition(node, "MemoryPressure") == "True"

    cluster.ok("fault", "inject", "memory-pressure", "--node", NODE)
    until("the fault shows", has_pressure)
    cluster.ok("fault", "clear", "--all")
    until("the fault is undone", lambda: not has_pressure())


def test_nothing_is_left_once_it_is_deleted(cluster: Installed, files: Path) -> None:
    assert processes_with(str(folder_of(cluster)))

    cluster.ok("delete", "cluster")

    assert not folder_of(cluster).exists()
    assert not processes_with(str(folder_of(cluster)))
