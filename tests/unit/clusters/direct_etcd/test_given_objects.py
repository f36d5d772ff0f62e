"""Objects to put are read from YAML, from JSON, and from lists of either."""

from pathlib import Path

import pytest

from kwokctl.clusters.direct_etcd.given_objects import given_objects
from kwokctl.errors import ConfigError


def _names(tmp_path: Path, text: str) -> list[str]:
    file = tmp_path / "objects"
    file.write_text(text, "utf-8")
    return [each.document["metadata"]["name"] for each in given_objects(str(file)).all]


def test_yaml_documents_are_read_and_empty_ones_are_skipped(tmp_path: Path) -> None:
    text = "---\nmetadata: {name: a}\n---\n---\nmetadata: {name: b}\n---\n"

    assert _names(tmp_path, text) == ["a", "b"]


def test_json_documents_follow_each_other(tmp_path: Path) -> None:
    assert _names(tmp_path, '{"metadata":{"name":"a"}}\n{"metadata":{"name":"b"}}') == ["a", "b"]


def test_the_items_of_a_list_are_objects(tmp_path: Path) -> None:
    text = "kind: List\nitems:\n- metadata: {name: a}\n- {kind: PodList, items: [{metadata: {name: b}}]}"

    assert _names(tmp_path, text) == ["a", "b"]


def test_comments_say_which_were_stored_as_json(tmp_path: Path) -> None:
    file = tmp_path / "objects"
    file.write_text(
        "---\n# /registry/minions/a | application/json\nmetadata: {name: a}\n"
        "---\n# /registry/pods/x/b | application/vnd.kubernetes.storagebinary\nmetadata: {name: b}\n"
    )

    assert given_objects(str(file)).json_keys == {"/registry/minions/a"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "holds no object"),
        (b"- a", "document 1: it is not an object"),
        (b"a: [", "line 2"),
        (b'{"a"', "is not YAML or JSON"),
        (b"\xff", "is not YAML or JSON"),
        (b"{}" + b'{"a":' * 300 + b"1" + b"}" * 300, "more than 200 levels .* in document 2"),
        (b'{"a":' * 100_000, "more than 200 levels .* in document 1"),
        (b"m: &m {a: *m}", r"the alias '\*m' is within the value that it stands for at line 1"),
    ],
)
def test_what_holds_no_objects_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "objects"
    file.write_bytes(content)

    with pytest.raises(ConfigError, match=message):
        given_objects(str(file))


def test_a_file_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot read .* No such file"):
        given_objects(str(tmp_path / "none"))
