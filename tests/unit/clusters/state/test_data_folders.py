from pathlib import Path

import pytest

from kwokctl.clusters.state.data_folders import exchange, forget_former, put_back, settle
from kwokctl.host.paths import ClusterPaths


@pytest.fixture
def paths(tmp_path: Path) -> ClusterPaths:
    made = ClusterPaths(tmp_path)
    write(made.etcd_data, "old")
    return made


def write(folder: Path, content: str) -> None:
    folder.mkdir()
    (folder / "db").write_text(content)


def content(paths: ClusterPaths) -> dict[str, str]:
    return {folder.name: (folder / "db").read_text() for folder in paths.root.iterdir()}


def test_restored_data_take_the_place_of_the_former_which_are_kept_until_they_work(
    paths: ClusterPaths,
) -> None:
    write(paths.etcd_restored, "new")

    exchange(paths)
    assert content(paths) == {"etcd": "new", "etcd-before-restore": "old"}

    forget_former(paths)
    assert content(paths) == {"etcd": "new"}


def test_the_former_data_are_put_back(paths: ClusterPaths) -> None:
    write(paths.etcd_restored, "new")
    exchange(paths)

    put_back(paths)

    assert content(paths) == {"etcd": "old"}


def test_nothing_is_put_back_that_was_not_exchanged(paths: ClusterPaths) -> None:
    write(paths.etcd_restored, "half")

    put_back(paths)

    assert content(paths) == {"etcd": "old"}


def test_what_was_killed_between_two_renames_is_settled(paths: ClusterPaths) -> None:
    write(paths.etcd_restored, "new")
    paths.etcd_data.rename(paths.etcd_before_restore)

    settle(paths)
    assert content(paths) == {"etcd": "old"}

    settle(paths)
    assert content(paths) == {"etcd": "old"}


def test_former_data_are_kept_until_the_new_ones_are_known_to_work(
    paths: ClusterPaths,
) -> None:
    write(paths.etcd_restored, "new")
    exchange(paths)

    settle(paths)

    assert content(paths) == {"etcd": "new", "etcd-before-restore": "old"}
