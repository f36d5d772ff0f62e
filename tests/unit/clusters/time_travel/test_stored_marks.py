"""Marks are kept in the folder of their cluster."""

from pathlib import Path

import msgspec
import pytest

from kwokctl.clusters.state.home import cluster_name
from kwokctl.clusters.time_travel.stored_marks import Mark, Marks, mark_name
from kwokctl.errors import NotFoundError, SnapshotError, UnavailableError, UsageError
from kwokctl.host.paths import ClusterPaths


@pytest.fixture
def marks(tmp_path: Path) -> Marks:
    return Marks(ClusterPaths(tmp_path), cluster_name("dev"))


def _mark(name: str, made: float = 1, revision: int = 5) -> Mark:
    return Mark(
        name=name,
        made=made,
        prefix="/registry",
        revision=revision,
        baseline=revision,
        witness=revision,
        objects=1,
        size=10,
        file=f"{name}_{revision}.content",
    )


def _keep(marks: Marks, mark: Mark) -> None:
    with marks.writing(mark.file) as file:
        file.write(b"content")
    marks.keep(mark)


def test_the_latest_mark_is_found_without_a_name(marks: Marks) -> None:
    _keep(marks, _mark("late", 2))
    _keep(marks, _mark("early", 1))

    assert marks.find("").name == "late"
    assert marks.find("early").name == "early"


def test_only_its_owner_can_read_a_mark(marks: Marks) -> None:
    _keep(marks, _mark("a"))

    assert {path.stat().st_mode & 0o077 for path in marks.paths.marks.iterdir()} == {0}
    assert marks.paths.marks.stat().st_mode & 0o077 == 0


def test_a_mark_of_the_same_name_takes_the_place_of_the_former(marks: Marks) -> None:
    _keep(marks, _mark("a", revision=5))
    _keep(marks, _mark("a", revision=6))

    assert [mark.revision for mark in marks.all()] == [6]
    assert not (marks.paths.marks / "a_5.content").exists()


def test_nothing_is_left_of_a_mark_that_was_forgotten(marks: Marks) -> None:
    _keep(marks, _mark("a"))
    _keep(marks, _mark("a-b"))
    marks.forget("a")

    assert [mark.name for mark in marks.all()] == ["a-b"]
    assert len(list(marks.paths.marks.iterdir())) == 2


def test_a_mark_that_is_not_there_names_those_that_are(marks: Marks) -> None:
    _keep(marks, _mark("with-crds"))

    with pytest.raises(NotFoundError, match="has no mark called 'other'") as caught:
        marks.find("other")
    assert "with-crds" in str(caught.value.hint)


def test_without_any_mark_the_remedy_is_to_make_one(marks: Marks) -> None:
    with pytest.raises(NotFoundError, match="has no mark") as caught:
        marks.find("")
    assert "kwokctl --name dev snapshot mark" in str(caught.value.hint)


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b'{"name": "a"}',
        msgspec.json.encode(_mark("other")),
        msgspec.json.encode(msgspec.structs.replace(_mark("a"), file="../../other")),
    ],
)
def test_a_damaged_document_is_named_and_spoils_no_other_mark(marks: Marks, content: bytes) -> None:
    _keep(marks, _mark("a"))
    _keep(marks, _mark("b"))
    (marks.paths.marks / "a.json").write_bytes(content)

    with pytest.raises(SnapshotError, match=r"a\.json' is damaged"):
        marks.find("a")
    with pytest.raises(SnapshotError, match=r"a\.json' is damaged"):
        marks.find("")
    assert marks.find("b") == _mark("b")
    assert [mark.name for mark in marks.all()] == ["b"]
    assert len(marks.damage()) == 1


def test_a_damaged_mark_can_be_dropped(marks: Marks) -> None:
    _keep(marks, _mark("a"))
    (marks.paths.marks / "a.json").write_text("{")
    marks.forget("a")

    assert list(marks.paths.marks.iterdir()) == []


def test_a_full_disk_leaves_nothing_and_says_what_to_do(marks: Marks) -> None:
    with (
        pytest.raises(UnavailableError, match="No space left on device") as caught,
        marks.writing("a_5.content"),
    ):
        raise OSError(28, "No space left on device")
    assert "drop old marks" in str(caught.value.hint)
    assert list(marks.paths.marks.iterdir()) == []


@pytest.mark.parametrize("name", ["", "A", "a_b", "../a", "a/b", "-a", "a" * 64])
def test_a_name_that_cannot_be_part_of_a_file_name_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be the name of a mark"):
        mark_name(name)
