"""Marks take no more space and time than allowed: the oldest go first, and never the newest."""

from pathlib import Path

import pytest

from kwokctl.clusters.state.home import cluster_name
from kwokctl.clusters.time_travel.make_mark import MarkBounds, beyond, keep_within
from kwokctl.clusters.time_travel.stored_marks import Mark, Marks
from kwokctl.errors import CapacityError
from kwokctl.host.paths import ClusterPaths
from kwokctl.progress import Silent


def _mark(name: str, made: float, size: int = 10) -> Mark:
    return Mark(
        name=name,
        made=made,
        prefix="/registry",
        revision=5,
        baseline=5,
        witness=5,
        objects=1,
        size=size,
        file=f"{name}_5.content",
    )


OLD, MIDDLE, NEW = _mark("old", 100), _mark("middle", 200), _mark("new", 300)


@pytest.mark.parametrize(
    ("bounds", "gone"),
    [
        (MarkBounds(), []),
        (MarkBounds(size=0, age=0), []),
        (MarkBounds(size=30), []),
        (MarkBounds(size=29), [OLD]),
        (MarkBounds(size=10), [OLD, MIDDLE]),
        (MarkBounds(age=200), []),
        (MarkBounds(age=150), [OLD]),
        (MarkBounds(age=1), [OLD, MIDDLE]),
        (MarkBounds(size=15, age=150), [OLD, MIDDLE]),
    ],
)
def test_the_oldest_go_first(bounds: MarkBounds, gone: list[Mark]) -> None:
    assert beyond([MIDDLE, NEW, OLD], NEW, bounds) == gone


class Noting(Silent):
    """Remembers what it is to write."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


@pytest.fixture
def marks(tmp_path: Path) -> Marks:
    return Marks(ClusterPaths(tmp_path), cluster_name("dev"))


def _write(marks: Marks, mark: Mark) -> None:
    with marks.writing(mark.file) as file:
        file.write(b"content")


def test_what_goes_is_named(marks: Marks) -> None:
    progress = Noting()
    for mark in (OLD, MIDDLE, NEW):
        _write(marks, mark)
        keep_within(marks, mark, MarkBounds(size=25), progress)

    assert [mark.name for mark in marks.all()] == ["middle", "new"]
    assert progress.notes == [
        "dropped the mark 'old': it is older than --max-age, or beyond --max-size"
    ]


def test_a_mark_that_is_too_large_leaves_the_others_and_nothing_of_itself(marks: Marks) -> None:
    _write(marks, OLD)
    keep_within(marks, OLD, MarkBounds(), Silent())
    _write(marks, NEW)

    with pytest.raises(CapacityError, match="the mark 'new' would take 10, more than the 9"):
        keep_within(marks, NEW, MarkBounds(size=9), Silent())

    assert marks.all() == [OLD]
    assert sorted(file.name for file in marks.paths.marks.iterdir()) == ["old.json", OLD.file]
