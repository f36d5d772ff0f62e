"""Manifests are read whole, and what is wrong with them is named."""

from pathlib import Path

import pytest

from kwokctl.clusters.objects.manifests import objects_of
from kwokctl.errors import ConfigError, NotFoundError
from kwokctl.json_value import Json

ONE: Json = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}}


def _names(objects: list[dict[str, Json]]) -> list[str]:
    return [each["metadata"]["name"] for each in objects]


def test_files_folders_and_mappings_are_read_in_their_order(tmp_path: Path) -> None:
    text = "apiVersion: v1\nkind: Secret\nmetadata: {name: %s}\n"
    (tmp_path / "b.yaml").write_text("---\n".join([text % "b1", "", text % "b2"]))
    (tmp_path / "a.yaml").write_text(text % "a")

    assert _names(objects_of([ONE, tmp_path, str(tmp_path / "a.yaml")])) == [
        "one", "a", "b1", "b2", "a"
    ]  # fmt: skip


def test_a_list_is_taken_apart() -> None:
    assert _names(objects_of({"apiVersion": "v1", "kind": "List", "items": [ONE, ONE]})) == [
        "one",
        "one",
    ]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"kind": "Pod", "metadata": {"name": "a"}}, "the object: 'apiVersion' is missing"),
        ({"apiVersion": "v1", "metadata": {"name": "a"}}, "the object: 'kind' is missing"),
        ({**ONE, "metadata": {}}, "the object: 'metadata.name' is missing"),
        ({**ONE, "metadata": "a"}, "the object: 'metadata.name' is missing"),
        ({"kind": "List", "items": [ONE, 1]}, "the object, item 2 is not a mapping"),
    ],
)
def test_what_is_no_object_is_named(body: dict[str, Json], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        objects_of(body)


def test_a_name_may_be_left_to_the_api_server() -> None:
    assert objects_of({**ONE, "metadata": {"generateName": "one-"}})


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("a: [")
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\xff")

    with pytest.raises(NotFoundError, match=r"there is no file '.*/none\.yaml'"):
        objects_of(tmp_path / "none.yaml")
    with pytest.raises(ConfigError, match=r"bad\.yaml' is not valid YAML"):
        objects_of(tmp_path / "bad.yaml")
    with pytest.raises(ConfigError, match=r"cannot read '.*/bytes\.yaml'"):
        objects_of(tmp_path / "bytes.yaml")
