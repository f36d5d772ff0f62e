import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kwokctl.errors import UnavailableError
from kwokctl.host import socket_folder
from kwokctl.host.files import private_folder
from kwokctl.host.paths import ClusterPaths, cache_dir, default_workdir, expanded


@pytest.fixture
def homeless(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Be a user of whom the machine knows nothing but a number."""
    for name in ("HOME", "KWOK_WORKDIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 54321)
    return monkeypatch


def test_without_a_home_folder_the_work_folder_must_be_given(
    homeless: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(UnavailableError, match="HOME is not set, and user 54321") as caught:
        default_workdir()
    assert "KWOK_WORKDIR" in str(caught.value.hint)

    homeless.setenv("KWOK_WORKDIR", str(tmp_path))
    assert default_workdir() == tmp_path
    assert cache_dir() == tmp_path / "cache"


def test_a_home_folder_that_is_not_there_is_an_error_that_names_the_path() -> None:
    with pytest.raises(UnavailableError, match="'~nobody-at-all/x' is in a home folder"):
        expanded("~nobody-at-all/x")


@pytest.mark.parametrize("name", ["plain", "with space", "ü", "a;b", "a=b", "it's", "$x", "a:b"])
def test_sockets_lie_in_the_cluster_s_folder(name: str) -> None:
    root = Path("/w") / name

    assert ClusterPaths(root).sockets == root / "run"


@pytest.mark.parametrize("name", ["x" * 90, *(f"a{c}b" for c in ',%"#?\\\n\t')])
def test_a_path_that_no_socket_url_can_hold_gets_a_short_link(name: str) -> None:
    sockets = ClusterPaths(Path("/w") / name).sockets

    assert sockets.parent != Path("/w") / name
    assert sockets.name.startswith("kwokctl-")
    assert sockets == ClusterPaths(Path("/w") / name).sockets
    assert sockets != ClusterPaths(Path("/w2") / name).sockets


def test_a_folder_for_temporary_files_that_is_no_better_is_not_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "c,d"))

    assert ClusterPaths(Path("/w/c,d")).sockets.parent == Path("/tmp")


@pytest.fixture
def long_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ClusterPaths]:
    """A cluster whose path is too long for sockets, and a short folder for temporary files."""
    with tempfile.TemporaryDirectory(dir="/tmp") as short:
        monkeypatch.setattr(tempfile, "tempdir", short)
        root = tmp_path / ("x" * 90)
        root.mkdir()
        yield ClusterPaths(root)


def noted(paths: ClusterPaths) -> Path:
    """Make the folder of sockets, and note it, as `create` does."""
    made = private_folder(paths.sockets)
    paths.sockets_note.write_text(f"{made}\n")
    return made


def in_another_process(paths: ClusterPaths) -> Path:
    """Return what a process finds that has named no folder itself."""
    socket_folder._chosen.clear()
    return paths.sockets


def test_nobody_knows_the_folder_of_sockets_before_it_is_there(long_one: ClusterPaths) -> None:
    first = long_one.sockets
    assert long_one.sockets == first  # also before it is made

    assert in_another_process(long_one) != first


def test_a_note_keeps_the_folder_of_sockets(long_one: ClusterPaths) -> None:
    made = noted(long_one)

    assert in_another_process(long_one) == made


def test_a_folder_of_sockets_that_was_removed_gets_another_name(long_one: ClusterPaths) -> None:
    made = noted(long_one)
    made.rmdir()

    assert in_another_process(long_one) not in (made, made.parent)


def test_a_cluster_of_before_keeps_its_folder_of_sockets(long_one: ClusterPaths) -> None:
    former = long_one.sockets.with_name(long_one.sockets.name.rpartition("-")[0])
    private_folder(former)

    assert in_another_process(long_one) == former


def test_another_users_folder_in_its_place_is_left_alone(long_one: ClusterPaths) -> None:
    if os.geteuid():
        pytest.skip("only root can make a folder of another user")
    made, former = noted(long_one), long_one.sockets.with_name(long_one.sockets.name[:-17])
    former.mkdir()
    for each in (made, former):
        os.chown(each, 65534, 65534)

    assert in_another_process(long_one) not in (made, former)
    assert private_folder(long_one.sockets).is_dir()


def test_a_copy_of_a_cluster_does_not_use_its_sockets(long_one: ClusterPaths) -> None:
    made = noted(long_one)
    copy = ClusterPaths(long_one.root.with_name("y" * 90))
    shutil.copytree(long_one.root, copy.root)

    assert in_another_process(copy) != made
