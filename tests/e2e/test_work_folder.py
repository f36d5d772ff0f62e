"""Work folders as machines have them: oddly named, and on a disk that is full."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.installed import Installed, kubeconfig_names

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.story,
    pytest.mark.timeout(600, func_only=True),
]

ODD = "a,b %20\"#?\\'é"
"""Characters that have a meaning in URLs, lists and quoted words."""
SIZE = 320 << 20
"""Bytes: room for etcd's log, which is made in files of 64 MB, and for it once more in a restore."""


RECORDING = """\
apiVersion: action.kwok.x-k8s.io/v1alpha1
kind: ResourcePatch
resource: {version: v1, resource: configmaps}
target: {name: seen, namespace: default}
durationNanosecond: 1
method: create
template: {apiVersion: v1, kind: ConfigMap, metadata: {name: seen, namespace: default}}
"""


@pytest.fixture(scope="module")
def disk() -> Iterator[Path]:
    """A small disk of its own where we may mount one, else a folder."""
    folder = Path(tempfile.mkdtemp(prefix="kwokctl-e2e-")) / ODD
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)]
    with suppress(OSError):
        subprocess.run(mount, check=False, capture_output=True)
    try:
        yield folder
    finally:
        if folder.is_mount():
            subprocess.run(["umount", "--lazy", str(folder)], check=True)
        shutil.rmtree(folder.parent)


@pytest.fixture(scope="module")
def cluster(programs: None, disk: Path) -> Iterator[Installed]:
    cluster = Installed.within(disk).called("odd")
    try:
        yield cluster
    finally:
        cluster.run("delete", "cluster", "--all", "--force")
        for pid in cluster.processes():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def test_a_work_folder_may_have_any_name(cluster: Installed) -> None:
    saved = str(cluster.folder / "saved.db")

    cluster.ok("create", "cluster", "--wait")
    cluster.ok("scale", "node", "--replicas", "20", "--wait", "180s")
    cluster.ok("snapshot", "save", "--path", saved)
    cluster.ok("scale", "node", "--replicas", "0")
    cluster.ok("snapshot", "restore", "--path", saved)

    assert len(cluster.objects("nodes")) == 20
    assert cluster.statuses() == {"Ready"}
    assert "20" in cluster.ok("etcdctl", "get", "--prefix", "--count-only", "/registry/minions/",
                              "--write-out=fields")  # fmt: skip


def test_on_a_full_disk_only_commands_that_need_space_fail(cluster: Installed) -> None:
    if not cluster.folder.is_mount():
        pytest.skip("a disk to be filled cannot be mounted here (that takes root)")
    folder = cluster.workdir / "clusters" / cluster.name
    cluster.ok("snapshot", "mark", "before")
    (cluster.folder / "run.yaml").write_text(RECORDING)
    fill(cluster.folder / "filling")

    said = cluster.refused("snapshot", "restore", "--path", str(cluster.folder / "saved.db"))
    assert f"in '{folder}', where 0 MB are free" in said
    _nothing_is_begun_without_space(cluster)
    cluster.ok("stop", "cluster")
    assert cluster.statuses() == {"Stopped"}
    # etcd has given back what it had reserved for its log.
    fill(cluster.folder / "filling")
    said = cluster.refused("start", "cluster")
    assert f"no space left on device: '{folder}" in said
    assert "delete cluster" in said
    (cluster.folder / "filling").unlink()
    cluster.ok("start", "cluster", "--wait", "180s")
    assert len(cluster.objects("nodes")) == 20


def _nothing_is_begun_without_space(cluster: Installed) -> None:
    """Try what would write large files, or stop components that could not be started again."""
    before, pids = cluster.files(), cluster.pids()
    fork, recording = cluster.called("fork"), str(cluster.folder / "run.yaml")

    refusals = (
        cluster.refused("snapshot", "mark", "full"),
        cluster.refused("snapshot", "rewind"),
        cluster.refused("snapshot", "replay", "--path", recording, "--no-snapshot"),
        cluster.refused("snapshot", "record", "--path", f"{recording}.gz", "--duration", "60s"),
        fork.refused("create", "cluster", "--from", cluster.name),
    )

    reasons = ("cannot be written", "are free")
    assert [said for said in refusals if not any(why in said for why in reasons)] == []
    assert cluster.files() == before
    assert cluster.pids() == pids


def test_deleting_works_on_a_full_disk_and_leaves_nothing(cluster: Installed) -> None:
    if cluster.folder.is_mount():
        fill(cluster.folder / "filling")

    cluster.ok("delete", "cluster")

    assert cluster.processes() == {}
    assert cluster.files() <= {"kubeconfig", "saved.db", "run.yaml", "filling"}
    assert kubeconfig_names(cluster.kubeconfig)["contexts"] == ["elsewhere"]


def fill(path: Path) -> None:
    """Let a file grow until the disk has no room for another byte."""
    with path.open("ab", buffering=0) as file:
        for size in (1 << 20, 1):
            with suppress(OSError):
                while file.write(bytes(size)):
                    pass
