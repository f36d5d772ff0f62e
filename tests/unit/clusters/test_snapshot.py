import asyncio
from pathlib import Path
from typing import Any

import pytest

from kwokctl.clusters.snapshot import check_room, restore_snapshot, save_snapshot
from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.clusters.state.saved import Saved, save
from kwokctl.components.catalog import catalog
from kwokctl.errors import (
    ComponentError,
    KwokctlError,
    NotFoundError,
    SnapshotError,
    UnavailableError,
)
from kwokctl.host.paths import ClusterPaths, WorkDir
from kwokctl.model import KUBE_APISERVER, ComponentName, State
from kwokctl.replacing import replace
from tests.support.bolt_file import database, snapshot
from tests.support.fake_runtime import FakeRuntime
from tests.support.options import changed
from tests.support.patches import patched
from tests.support.recorded_messages import RecordedMessages
from tests.unit.clusters.state.test_saved import SAVED as SAVED_FROM_STORE

NAME = cluster_name("dev")
OBJECTS = ["/registry/namespaces/kube-system", "/registry/pods/default/a"]
RESTORES = """\
#!/bin/sh
for word; do case "$word" in --data-dir=*) folder=${word#--data-dir=} ;; esac; done
mkdir "$folder" && echo new > "$folder/db"
"""
PANICS = """\
#!/bin/sh
echo "$PPID	info	restoring" >&2
echo "panic: assertion failed" >&2
echo "goroutine 1 [running]:" >&2
exit 2
"""


@pytest.fixture
def runtime() -> FakeRuntime:
    return FakeRuntime()


@pytest.fixture
def messages() -> RecordedMessages:
    return RecordedMessages()


@pytest.fixture
def home(tmp_path: Path, runtime: FakeRuntime, messages: RecordedMessages) -> Home:
    made = Home(
        workdir=WorkDir(tmp_path), cache=tmp_path, load_runtime=runtime.load, progress=messages
    )
    paths = made.paths(NAME)
    saved = saved_with(program(tmp_path, RESTORES))
    save(paths, saved, saved.plan(runtime, paths))
    paths.etcd_data.mkdir()
    (paths.etcd_data / "db").write_text("old")
    return made


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """A snapshot that this cluster can be restored from."""
    return written(tmp_path, OBJECTS)


def program(folder: Path, text: str) -> str:
    path = folder / "etcdutl"
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def saved_with(etcdutl: str, **options: Any) -> Saved:
    given = {
        f"{name.replace('-', '_')}_binary": "/bin/true"
        for name, definition in catalog().items()
        if not definition.embedded
    }
    options = {**given, "etcdutl_binary": etcdutl, **options}
    return replace(SAVED_FROM_STORE, options=changed(SAVED_FROM_STORE.options, **options))


def written(folder: Path, keys: list[str]) -> Path:
    path = folder / "s.db"
    path.write_bytes(snapshot(database(keys)))
    return path


def folders(paths: ClusterPaths) -> dict[str, str]:
    """Return the folders of data, and what is in each."""
    return {folder.name: (folder / "db").read_text().strip() for folder in paths.root.glob("etcd*")}


def run_all(runtime: FakeRuntime, *names: ComponentName) -> None:
    runtime.found = dict.fromkeys(names, State.RUNNING)


async def refused(home: Home, path: Path) -> KwokctlError:
    with pytest.raises(KwokctlError) as caught:
        await restore_snapshot(home, NAME, path)
    return caught.value


async def test_a_file_that_cannot_be_trusted_is_refused_with_nothing_touched(
    home: Home, runtime: FakeRuntime, tmp_path: Path
) -> None:
    (tmp_path / "empty.db").touch()

    assert isinstance(await refused(home, tmp_path / "empty.db"), SnapshotError)

    assert runtime.asked == []
    assert folders(home.paths(NAME)) == {"etcd": "old"}


async def test_a_snapshot_of_an_etcd_without_kubernetes_is_refused_with_nothing_touched(
    home: Home, runtime: FakeRuntime, tmp_path: Path
) -> None:
    error = await refused(home, written(tmp_path, ["foo"]))

    assert "no Kubernetes objects under '/registry'" in str(error)
    assert runtime.asked == []


async def test_a_snapshot_of_another_prefix_is_refused_with_the_prefix_that_it_has(
    home: Home, runtime: FakeRuntime, tmp_path: Path
) -> None:
    error = await refused(home, written(tmp_path, ["/other/namespaces/kube-system"]))

    assert error.hint
    assert "--etcd-prefix /other" in error.hint
    assert runtime.asked == []


async def test_the_prefix_of_the_api_server_s_own_argument_counts(
    home: Home, runtime: FakeRuntime, tmp_path: Path
) -> None:
    saved = saved_with(program(tmp_path, RESTORES))
    saved = replace(saved, patches=patched(KUBE_APISERVER, {"etcd-prefix": "other/"}))
    save(home.paths(NAME), saved, saved.plan(runtime, home.paths(NAME)))

    assert "under '/other'" in str(await refused(home, written(tmp_path, OBJECTS)))


async def test_a_database_that_only_etcdutl_finds_damaged_is_refused_with_nothing_stopped(
    home: Home, runtime: FakeRuntime, whole: Path, tmp_path: Path
) -> None:
    program(tmp_path, PANICS)

    error = await refused(home, whole)

    assert isinstance(error, SnapshotError)
    assert error.detail == "panic: assertion failed"
    assert runtime.asked == []
    assert folders(home.paths(NAME)) == {"etcd": "old"}


async def test_a_cluster_that_does_not_start_has_its_former_data_again(
    home: Home, runtime: FakeRuntime, messages: RecordedMessages, whole: Path
) -> None:
    runtime.fails_at = {"install": ComponentError("not again")}

    assert str(await refused(home, whole)) == "not again"

    assert folders(home.paths(NAME)) == {"etcd": "old"}
    assert messages.lines == [
        "the cluster does not start with the restored data: putting the old data back",
        "the old data are back",
    ]


async def test_an_interrupted_restore_says_so_and_has_the_former_data_again(
    home: Home, runtime: FakeRuntime, messages: RecordedMessages, whole: Path
) -> None:
    runtime.fails_at = {"install": asyncio.CancelledError()}

    with pytest.raises(asyncio.CancelledError):
        await restore_snapshot(home, NAME, whole)

    assert folders(home.paths(NAME)) == {"etcd": "old"}
    assert messages.lines == [
        "the restore was interrupted: putting the old data back",
        "the old data are back",
    ]


async def test_what_ran_before_a_restore_that_failed_is_started_again(
    home: Home, runtime: FakeRuntime, messages: RecordedMessages, whole: Path
) -> None:
    run_all(runtime, KUBE_APISERVER)
    runtime.fails_at = {"install": ComponentError("not again")}

    await refused(home, whole)

    assert runtime.asked[-1] == "install"
    assert "does not run: not again" in messages.lines[-1]
    assert folders(home.paths(NAME)) == {"etcd": "old"}


def test_a_folder_without_room_is_refused_with_both_numbers(tmp_path: Path) -> None:
    path = tmp_path / "large.db"
    with path.open("wb") as file:
        file.truncate(8 << 40)

    with pytest.raises(UnavailableError, match=r"need 8,796,\d{3} MB in .*MB are free"):
        check_room(path, tmp_path)


async def test_what_does_not_run_cannot_be_saved(home: Home, tmp_path: Path) -> None:
    with pytest.raises(ComponentError, match="etcd does not run"):
        await save_snapshot(home, NAME, tmp_path / "s.db", force=False)
    with pytest.raises(NotFoundError):
        await save_snapshot(home, cluster_name("other"), tmp_path / "s.db", force=False)
