import os
from pathlib import Path

from kwokctl.artifacts.workdirs import forget_removed, remember, remembered


def test_work_folders_are_remembered_once(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / os.fsdecode(b"t\xffo")]
    for folder in (*folders, *folders):
        folder.mkdir(exist_ok=True)
        remember(tmp_path / "cache", folder)

    assert sorted(remembered(tmp_path / "cache")) == sorted(folders)


def test_a_removed_work_folder_is_forgotten(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    (tmp_path / "there").mkdir()
    for name in ("there", "gone"):
        remember(cache, tmp_path / name)

    assert list(remembered(cache)) == [tmp_path / "there"]
    forget_removed(cache)
    (tmp_path / "gone").mkdir()
    assert list(remembered(cache)) == [tmp_path / "there"]


def test_a_cache_that_cannot_be_written_stops_no_cluster(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("not a folder")

    remember(tmp_path / "cache", tmp_path)

    assert list(remembered(tmp_path / "cache")) == []
