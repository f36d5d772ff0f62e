"""What a marker says is read, checked, and joined with what all tests need."""

from pathlib import Path

import pytest

from kwokctl.errors import UsageError
from kwokctl.pytest_plugin.needs import Needs, needs_of


def test_paths_are_relative_to_the_file_of_the_test(tmp_path: Path) -> None:
    (tmp_path / "crd.yaml").touch()
    (tmp_path / "stages").mkdir()

    found = needs_of({"nodes": 3, "crds": "crd.yaml", "stages": ["stages"]}, tmp_path, "here")

    assert found == Needs(nodes=3, crds=(tmp_path / "crd.yaml",), stages=(tmp_path / "stages",))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"node": 3}, "here: 'node' is not one of nodes, pods, crds, stages, objects, webhooks"),
        ({"nodes": "3"}, "here: 'nodes' is '3', not a number"),
        ({"pods": -1}, "here: 'pods' is -1, not a number"),
        ({"crds": "none.yaml"}, "here: there is no file '.*none.yaml'"),
        ({"crds": 7}, "here: 7 is neither a path nor a list of paths"),
    ],
)
def test_what_cannot_be_right_is_named(
    tmp_path: Path, words: dict[str, object], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        needs_of(words, tmp_path, "here")


def test_the_closest_number_counts_and_files_of_both() -> None:
    far = Needs(nodes=3, pods=1, crds=(Path("a"), Path("b")))
    near = Needs(nodes=0, crds=(Path("b"), Path("c")))

    assert far.joined(near) == Needs(nodes=0, pods=1, crds=(Path("a"), Path("b"), Path("c")))


def test_the_same_needs_have_the_same_key() -> None:
    assert Needs(nodes=3).key == Needs().joined(Needs(nodes=3)).key != Needs().key
