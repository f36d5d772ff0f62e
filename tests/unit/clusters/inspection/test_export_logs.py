""""""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kwokctl.clusters.inspection.export_logs import export_logs
from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.errors import ConflictError, NotFoundError, UnavailableError
from kwokctl.model import ETCD, ClusterName, ComponentName
from kwokctl.replacing import replace
from tests.support.fake_runtime import FakeRuntime
from tests.support.options import cluster_options
from tests.support.recorded_messages import RecordedMessages
from tests.support.saved_cluster import home_with

NAME = cluster_name("dev")


class Talking(FakeRuntime):
    """Has a log for each component but etcd, and more of the whole cluster."""

    async def logs(
        self, cluster: ClusterName, name: ComponentName, *, follow: bool = False
    ) -> AsyncIterator[bytes]:
        if name == ETCD:
            raise UnavailableError("the engine does not answer")
        yield f"{name} uses own-token\n".encode()

    async def description(self, cluster: ClusterName) -> str:
        return "version 1"

    async def collect(self, cluster: ClusterName, folder: Path) -> None:
        (folder / "node").mkdir()
        (folder / "node" / "kubelet.log").write_text("own-token\n")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    options = cluster_options(runtime="fake", kube_audit_policy="/policy.yaml")
    home = home_with(tmp_path / "kwok", NAME, options, Talking())
    home.paths(NAME).controller_token.write_text("own-token")
    return home


async def test_configuration_runtime_and_logs_are_exported_without_secrets(
    home: Home, tmp_path: Path
) -> None:
    messages = RecordedMessages()
    exported = await export_logs(replace(home, progress=messages), NAME, tmp_path / "out")

    target = tmp_path / "out" / "dev"
    assert exported.path == target
    assert {"kwok.yaml", "fake-info.txt", "audit.log", "fake/node/kubelet.log"} <= set(
        exported.files
    )
    log = target / "components" / "kube-apiserver.log"
    assert log.read_text() == "kube-apiserver uses REDACTED\n"
    assert (target / "fake" / "node" / "kubelet.log").read_text() == "REDACTED\n"
    assert (target / "fake-info.txt").read_text() == "version 1\n"
    assert (target.stat().st_mode & 0o777, log.stat().st_mode & 0o777) == (0o700, 0o600)
    assert exported.missing == ("components/etcd.log",)
    assert messages.lines == ["'components/etcd.log' is not exported: the engine does not answer"]


async def test_without_a_folder_the_clusters_own_one_is_used_once(home: Home) -> None:
    exported = await export_logs(home, NAME, None)
    assert exported.path == home.paths(NAME).root / "export" / "logs"
    with pytest.raises(ConflictError, match="there is an export in"):
        await export_logs(home, NAME, None)


async def test_a_runtime_that_says_nothing_of_itself_is_named(tmp_path: Path) -> None:
    home = home_with(tmp_path, NAME, cluster_options(runtime="fake"), FakeRuntime())
    exported = await export_logs(home, NAME, None)
    assert (exported.path / "fake-info.txt").read_text() == "fake\n"
    assert "audit.log" not in exported.files


async def test_nothing_is_written_for_a_cluster_that_does_not_exist(tmp_path: Path) -> None:
    home = home_with(tmp_path / "kwok", NAME, cluster_options(), FakeRuntime())
    with pytest.raises(NotFoundError):
        await export_logs(home, cluster_name("other"), tmp_path / "out")
    assert not (tmp_path / "out").exists()
