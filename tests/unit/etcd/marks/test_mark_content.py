"""What is kept of a mark is read again as it was, or refused."""

from pathlib import Path

import pytest

from kwokctl.errors import SnapshotError
from kwokctl.etcd.kv.operations import KeyValue
from kwokctl.etcd.marks.mark_content import ContentWriter, opened
from kwokctl.etcd.marks.mark_difference import Kept

ITEMS = [KeyValue(b"/a", b"one", 5), KeyValue(b"/b", b"", 6, 77), KeyValue(b"/c", b"\0\xff", 7)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a_5.content"
    with path.open("wb") as file:
        writer = ContentWriter(file)
        writer.add(ITEMS[:2])
        writer.add(ITEMS[2:])
        assert writer.finish() == len(ITEMS)
    return path


def test_what_was_written_is_found_again(path: Path) -> None:
    with opened(path) as content:
        assert content.keys == [b"/a", b"/b", b"/c"]
        assert content.find(b"/a") == Kept(b"one", 0)
        assert content.find(b"/b") == Kept(b"", 77)
        assert content.find(b"/d") is None
        assert content.revision_of(b"/c") == 7
        assert content.revision_of(b"/d") == 0
        assert b"/c" in content


def test_a_mark_of_nothing_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "empty_5.content"
    with path.open("wb") as file:
        ContentWriter(file).finish()

    with opened(path) as content:
        assert content.keys == []


@pytest.mark.parametrize("end", [0, 1, 10, 20, 40, -1])
def test_a_file_that_is_cut_is_refused(path: Path, end: int) -> None:
    path.write_bytes(path.read_bytes()[:end])

    with pytest.raises(SnapshotError, match="is damaged, or is not a mark"), opened(path):
        pass


def test_a_file_of_another_kind_is_refused(path: Path) -> None:
    path.write_bytes(b"\0" * 4096)

    with pytest.raises(SnapshotError, match="is damaged, or is not a mark"), opened(path):
        pass


@pytest.mark.parametrize(
    ("part", "other"), [(b"kwokctl", b"another"), (b"/a", b"/x")], ids=["head", "index"]
)
def test_a_head_or_an_index_that_was_altered_is_refused(
    path: Path, part: bytes, other: bytes
) -> None:
    path.write_bytes(path.read_bytes().replace(part, other))

    with pytest.raises(SnapshotError, match="is damaged, or is not a mark"), opened(path):
        pass


def test_a_value_that_was_altered_is_refused_when_it_is_read(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"one", b"two"))

    with (
        opened(path) as content,
        pytest.raises(SnapshotError, match="is damaged, or is not a mark"),
    ):
        content.find(b"/a")


def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(SnapshotError, match="cannot be read"), opened(tmp_path / "no"):
        pass


def test_a_file_of_another_version_says_so(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"kwokctl mark 1", b"kwokctl mark 2", 1))

    with pytest.raises(SnapshotError, match="another version of kwokctl"), opened(path):
        pass


def test_all_values_are_verified_at_once(path: Path) -> None:
    with opened(path) as content:
        content.verify()
    path.write_bytes(path.read_bytes().replace(b"one", b"two", 1))

    with opened(path) as content, pytest.raises(SnapshotError, match="is damaged"):
        content.verify()
