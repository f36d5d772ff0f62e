""""""

from contextlib import suppress
from pathlib import Path

import pytest

from kwokctl.errors import ComponentError, UnavailableError
from runtimes.engine.endpoint import Endpoint
from runtimes.engine.engine_client import Engine
from runtimes.kind.nodes.node_creation import demand_instances, set_aside, without_instances


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "etcd"
    folder.mkdir()
    return folder


def test_data_are_set_aside_and_come_back(data: Path, tmp_path: Path) -> None:
    (data / "member").write_text("old")

    with set_aside(data, tmp_path / "kept") as is_kept:
        assert is_kept
        assert list(data.iterdir()) == []
        (data / "member").write_text("new")

    assert (data / "member").read_text() == "old"
    assert not (tmp_path / "kept").exists()


def test_what_kind_has_begun_with_stays_where_there_was_nothing(data: Path, tmp_path: Path) -> None:
    with set_aside(data, tmp_path / "kept") as is_kept:
        assert not is_kept
        (data / "member").write_text("new")

    assert (data / "member").read_text() == "new"


def test_data_come_back_although_it_fails_or_was_killed_before(data: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "member").write_text("old")
    (data / "member").write_text("half made")

    with suppress(RuntimeError), set_aside(data, kept):
        assert list(data.iterdir()) == []
        raise RuntimeError

    assert (data / "member").read_text() == "old"


HERE, ELSEWHERE = Endpoint(url="unix:///run/docker.sock"), Endpoint(url="tcp://192.0.2.1:2376")


def machine(root: Path, *, used: int, limit: int) -> Path:
    settings = root / "proc/sys/fs/inotify"
    settings.mkdir(parents=True)
    (settings / "max_user_instances").write_text(f"{limit}\n")
    descriptors = root / "proc/77/fd"
    descriptors.mkdir(parents=True)
    for number in range(used):
        (descriptors / str(number)).symlink_to("anon_inode:inotify")
    return root


def test_a_node_that_could_not_start_for_want_of_inotify_instances_is_refused(
    tmp_path: Path,
) -> None:
    root = machine(tmp_path, used=113, limit=128)

    with pytest.raises(UnavailableError, match=r"only 15 are available .*=128\)") as caught:
        demand_instances(Engine(HERE), root)

    assert "sudo sysctl fs.inotify.max_user_instances=512" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("endpoint", "used", "limit"), [(HERE, 112, 128), (HERE, 0, 0), (ELSEWHERE, 128, 128)]
)
def test_a_node_that_may_start_is_not_refused(
    tmp_path: Path, endpoint: Endpoint, used: int, limit: int
) -> None:
    demand_instances(Engine(endpoint), machine(tmp_path, used=used, limit=limit))


def test_programs_that_could_not_watch_files_are_named_with_the_remedy() -> None:
    whole = ComponentError("kind cannot make it", detail='error="fsnotify: too many open files"')
    other = ComponentError("kind cannot make it", detail="unknown flag: --no-such")

    lacking = without_instances(whole)
    assert lacking is not None
    assert "max_user_instances=512" in str(lacking.hint)
    assert lacking.detail == whole.detail
    assert without_instances(other) is None
