"""The class for Python programs, as far as it needs no cluster that runs."""

import logging
import subprocess
import sys
from pathlib import Path

import pytest

import kwokctl
from kwokctl import Cluster
from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.errors import ComponentError, NotFoundError, UsageError
from kwokctl.host.paths import WorkDir
from kwokctl.library.progress_log import LoggedProgress
from kwokctl.model import ETCD, KUBE_APISERVER, State
from tests.support.fake_runtime import FakeRuntime
from tests.support.options import cluster_options
from tests.support.saved_cluster import home_with, save_cluster

NAME = cluster_name("dev")


def _cluster(folder: Path, *, is_own: bool = False) -> Cluster:
    return Cluster(home_with(folder, NAME, cluster_options(), FakeRuntime()), NAME, is_own=is_own)


def test_a_cluster_that_there_is_not_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no cluster called 'dev'"):
        Cluster.open("dev", workdir=tmp_path)
    with pytest.raises(UsageError, match="cannot be the name"):
        Cluster.open("../dev", workdir=tmp_path)


def test_a_cluster_that_is_opened_says_how_it_is_reached(tmp_path: Path) -> None:
    save_cluster(WorkDir(tmp_path), NAME, cluster_options())

    cluster = Cluster.open("dev", workdir=tmp_path)

    assert cluster.name == "dev"
    assert cluster.kubeconfig == tmp_path / "clusters" / "dev" / "kubeconfig.yaml"
    assert "kube-apiserver" in cluster.components
    assert repr(cluster) == "Cluster('dev')"


def test_the_work_folder_may_be_a_string(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_cluster(WorkDir(tmp_path / "work"), NAME, cluster_options())
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    for folder in (str(tmp_path / "work"), "~/work", "work"):
        opened = Cluster.open("dev", workdir=folder)
        assert opened.kubeconfig == tmp_path / "work" / "clusters" / "dev" / "kubeconfig.yaml"


def test_errors_are_those_of_the_commands_and_show_what_to_do(tmp_path: Path) -> None:
    cluster = _cluster(tmp_path)

    with pytest.raises(ComponentError, match="etcd does not run") as caught:
        cluster.mark()
    assert caught.value.__notes__ == ["start it with: kwokctl start cluster --name dev"]
    with pytest.raises(UsageError, match="not KIND/NAME"):
        cluster.get("pods")


def test_pytest_shows_the_line_of_the_caller_alone(tmp_path: Path) -> None:
    with pytest.raises(ComponentError) as caught:
        _cluster(tmp_path).mark()

    shown = caught.traceback.filter(caught)
    assert [each.name for each in shown] == ["test_pytest_shows_the_line_of_the_caller_alone"]


def test_a_block_leaves_a_cluster_that_was_there_before(tmp_path: Path) -> None:
    with _cluster(tmp_path):
        pass
    assert (tmp_path / "clusters" / "dev").is_dir()

    with _cluster(tmp_path, is_own=True):
        pass
    assert not (tmp_path / "clusters" / "dev").exists()


def test_the_log_of_a_component_is_a_text(tmp_path: Path) -> None:
    runtime = FakeRuntime(found={ETCD: State.RUNNING, KUBE_APISERVER: State.RUNNING}, log=b"a\nb\n")
    cluster = Cluster(home_with(tmp_path, NAME, cluster_options(), runtime), NAME)

    assert cluster.logs("etcd") == "a\nb\n"
    assert cluster.logs("etcd", tail=1) == "b\n"


def test_a_cluster_without_marks_has_an_empty_list(tmp_path: Path) -> None:
    assert _cluster(tmp_path).marks() == []


def test_what_commands_print_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "kwokctl")
    progress = LoggedProgress()
    with progress.step("Working"):
        progress.note("good to know")
        progress.warn("not to be missed")

    assert [(each.levelname, each.message) for each in caplog.records] == [
        ("INFO", "good to know"),
        ("WARNING", "not to be missed"),
    ]


def test_the_package_has_no_other_names() -> None:
    with pytest.raises(AttributeError, match="module 'kwokctl' has no attribute 'Clutser'"):
        kwokctl.__getattr__("Clutser")


def test_the_version_does_not_load_the_library() -> None:
    text = "import sys, kwokctl; kwokctl.__version__; print(len([m for m in sys.modules if 'kwokctl' in m]))"
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stdout == "1\n"


def test_a_home_may_be_given() -> None:
    home = Home(workdir=WorkDir(Path("/somewhere")), cache=Path("/cache"))

    assert Cluster(home, "a").kubeconfig == Path("/somewhere/clusters/a/kubeconfig.yaml")
