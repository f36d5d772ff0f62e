from contextlib import suppress
from pathlib import Path

import pytest

from runtimes.kind.nodes.creation import set_aside


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
