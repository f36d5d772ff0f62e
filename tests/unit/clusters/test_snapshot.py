from dataclasses import replace
from pathlib import Path

import pytest

from kwokctl.clusters.home import Home, cluster_name
from kwokctl.clusters.saved import save
from kwokctl.clusters.snapshot import _swapped, restore_snapshot, save_snapshot
from kwokctl.clusters.start import settle
from kwokctl.errors import ComponentError, NotFoundError, SnapshotError, TimedOutError
from kwokctl.host.paths import ClusterPaths, WorkDir
from tests.support.fake_runtime import FakeRuntime
from tests.unit.clusters.test_saved import SAVED as SAVED_FROM_STORE

SAVED = replace(
    SAVED_FROM_STORE,
    options=replace(
        SAVED_FROM_STORE.options,
        etcd_binary="/bin/true",
        kube_apiserver_binary="/bin/true",
        kube_controller_manager_binary="/bin/true",
        kube_scheduler_binary="/bin/true",
    ),
)
NAME = cluster_name("dev")


@pytest.fixture
def runtime() -> FakeRuntime:
    return FakeRuntime()


@pytest.fixture
def home(tmp_path: Path, runtime: FakeRuntime) -> Home:
    made = Home(workdir=WorkDir(tmp_path), cache=tmp_path, load_runtime=runtime.load)
    paths = made.paths(NAME)
    save(paths, SAVED, SAVED.plan(runtime, paths))
    write(paths.etcd_data, "old")
    return made


def write(folder: Path, content: str) -> None:
    folder.mkdir()
    (folder / "db").write_text(content)


def data(paths: ClusterPaths) -> str:
    return (paths.etcd_data / "db").read_text()


async def test_restored_data_take_the_place_of_the_old(home: Home, runtime: FakeRuntime) -> None:
    paths = home.paths(NAME)
    write(paths.etcd_restored, "new")

    async with _swapped(home, runtime, SAVED.plan(runtime, paths), SAVED):
        assert data(paths) == "new"
        assert paths.etcd_before_restore.exists()

    assert data(paths) == "new"
    assert not paths.etcd_before_restore.exists()


async def test_data_that_do_not_work_give_way_to_the_old(home: Home, runtime: FakeRuntime) -> None:
    paths = home.paths(NAME)
    write(paths.etcd_restored, "new")
    runtime.fails_at = {"install": ComponentError("not again")}

    with pytest.raises((TimedOutError, ComponentError)):
        async with _swapped(home, runtime, SAVED.plan(runtime, paths), SAVED):
            raise TimedOutError("the API does not answer")

    assert data(paths) == "old"
    assert "stop etcd" in runtime.asked


def test_a_restore_killed_between_two_renames_is_settled_by_the_next_start(home: Home) -> None:
    paths = home.paths(NAME)
    paths.etcd_data.rename(paths.etcd_before_restore)

    settle(paths)

    assert data(paths) == "old"
    settle(paths)
    assert data(paths) == "old"


async def test_a_file_that_cannot_be_trusted_is_refused_with_nothing_touched(
    home: Home, runtime: FakeRuntime, tmp_path: Path
) -> None:
    (tmp_path / "empty.db").touch()

    with pytest.raises(SnapshotError):
        await restore_snapshot(home, NAME, tmp_path / "empty.db")

    assert runtime.asked == []
    assert data(home.paths(NAME)) == "old"


async def test_what_does_not_run_cannot_be_saved(home: Home, tmp_path: Path) -> None:
    with pytest.raises(ComponentError, match="etcd does not run"):
        await save_snapshot(home, NAME, tmp_path / "s.db", force=False)
    with pytest.raises(NotFoundError):
        await save_snapshot(home, cluster_name("other"), tmp_path / "s.db", force=False)
