"""Files of objects are read of whichever tool, and each error names its line."""

import gzip
import json
from pathlib import Path

import pytest
import yaml

from kwokctl.clusters.object_files.object_documents import SEPARATOR, document_of, listed_document
from kwokctl.clusters.object_files.reading import FileObject, ObjectFile
from kwokctl.errors import SnapshotError
from kwokctl.json_value import Json
from kwokctl.kube.resource import CONFIG_MAPS, PODS

ODD = [
    "yes", "null", "0x1f", "1e3", "2021-01-01", "a: b", "- a", "# no comment", "'", '"', "\\", "",
    " spaces ", "two\nlines\n", "---\nkind: x", "\t", "é😀", "\x7f", "\u0085", "\ufeff", "\u2028", "<<",
]  # fmt: skip
RECORDED = Path(__file__).parents[3] / "golden" / "original-recording.yaml"
"""What kwokctl v0.8.0 wrote for `snapshot export --record --filter priorityclass.scheduling.k8s.io`."""
RECORDED_AT = 1_767_225_600 * 10**9
ORIGINAL = """\
apiVersion: v1
kind: Namespace
metadata:
  creationTimestamp: "2026-01-01T00:00:00Z"
  name: web
  uid: 6f3c63b5-8a4a-4f5b-9d57-1a2b3c4d5e6f
spec:
  finalizers:
  - kubernetes
---
apiVersion: v1
data:
  text: |
    first line
    second
kind: ConfigMap
metadata:
  name: texts
  namespace: web
  ownerReferences:
  - apiVersion: apps/v1
    kind: Deployment
    name: front
    uid: 0b6f3d5e-1111-4222-8333-444455556666
---
apiVersion: v1
items:
- apiVersion: v1
  kind: Pod
  metadata: {name: a, namespace: web}
- {}
kind: List
---
---
apiVersion: action.kwok.x-k8s.io/v1alpha1
kind: ResourcePatch
resource: {version: v1, resource: pods}
target: {name: a, namespace: web}
durationNanosecond: 5
method: delete
---
apiVersion: v1
kind: Pod
metadata: {name: behind, namespace: web}
"""
"""Written by hand as the original writes: two snapshots' documents, a list, and a recording."""


def _objects(folder: Path, content: bytes | str) -> list[FileObject]:
    path = folder / "objects.yaml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(ObjectFile(path).objects(0))


def test_what_the_original_has_recorded_is_read() -> None:
    file = ObjectFile(RECORDED)

    objects = [(each.kind, each.name) for each in file.objects(RECORDED_AT)]
    assert objects == [
        ("PriorityClass", "system-cluster-critical"),
        ("PriorityClass", "system-node-critical"),
    ]
    made, patched, deleted = (action for _, action in file.actions(RECORDED_AT))
    assert [each["method"] for each in (made, patched, deleted)] == ["create", "patch", "delete"]
    assert made["template"]["metadata"]["creationTimestamp"] == "2026-01-01T00:00:03.488193Z"
    assert patched["template"]["metadata"]["labels"] == {"a": "b"}


def test_a_file_of_the_original_is_read_up_to_its_first_change(tmp_path: Path) -> None:
    found = _objects(tmp_path, ORIGINAL)

    assert [(each.line, each.label) for each in found] == [
        (1, "Namespace 'web'"),
        (11, "ConfigMap 'web/texts'"),
        (26, "Pod 'web/a'"),
    ]
    assert found[1].owners[0].name == "front"
    assert json.loads(found[1].body)["data"] == {"text": "first line\nsecond\n"}


def test_changes_of_a_recording_are_read_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "objects.yaml"
    path.write_text(ORIGINAL)

    [(line, action)] = ObjectFile(path).actions(0)
    assert (line, action["method"], action["target"]["name"]) == (35, "delete", "a")


@pytest.mark.parametrize("text", ODD)
def test_every_reader_of_yaml_finds_what_was_written(tmp_path: Path, text: str) -> None:
    value: Json = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a", "annotations": {text or "key": text}},
        "data": {"text": text, "number": 1, "float": 1.5, "none": None, "list": [text, True]},
        text or "empty": text,
    }
    document = document_of(value)

    assert yaml.safe_load(document) == value
    assert json.loads(_objects(tmp_path, document)[0].body) == value


def test_an_object_of_a_list_is_written_with_its_kind_and_without_its_version() -> None:
    raw = b'{"metadata":{"name":"a","resourceVersion":"7","uid":"u"},"spec":{"x":"\\u003c"}}'
    assert listed_document(raw, PODS) == (
        b'apiVersion: v1\nkind: Pod\nmetadata: {"name":"a","uid":"u"}\nspec: {"x":"\\u003c"}\n'
    )


_ALIASES = "\n".join(f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10))
_DEEP = f"{'[' * 300}{']' * 300}"


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        (f"data:\n  a0: &a0 [lol]\n{_ALIASES}\n", "stand for more than 32 MiB at line 13, "),
        (
            "data: &m {labels: *m}\n",
            "the alias '*m' is within the value that it stands for at line 6, ",
        ),
        (f'data: {{"a":{_DEEP}}}\n', "more than 200 levels are within each other at line 6, "),
        (f"data:\n- {_DEEP}\n", "more than 200 levels are within each other at line 7, "),
    ],
)
def test_what_could_not_be_written_out_is_refused_with_file_and_line(
    tmp_path: Path, fields: str, problem: str
) -> None:
    text = f'---\n\napiVersion: v1\nkind: ConfigMap\nmetadata: {{"name":"a"}}\n{fields}'

    with pytest.raises(SnapshotError) as caught:
        _objects(tmp_path, text)

    assert str(caught.value).startswith(f"'{tmp_path / 'objects.yaml'}': ")
    assert problem in str(caught.value)
    assert caught.value.hint


def test_a_compressed_file_is_known_by_its_content(tmp_path: Path) -> None:
    one = gzip.compress(document_of({"apiVersion": "v1", "kind": "A", "metadata": {"name": "a"}}))
    more = SEPARATOR + document_of({"apiVersion": "v1", "kind": "B", "metadata": {"name": "b"}})

    assert [each.kind for each in _objects(tmp_path, one + gzip.compress(more))] == ["A", "B"]


def test_relative_times_are_those_of_now(tmp_path: Path) -> None:
    [found] = _objects(
        tmp_path,
        "apiVersion: v1\nkind: A\nmetadata:\n  name: a\n"
        '  creationTimestamp: "$(time-offset-nanosecond 1000)"\n',
    )
    assert json.loads(found.body)["metadata"]["creationTimestamp"] == "1970-01-01T00:00:00.000001Z"


def test_items_of_a_list_of_one_kind_have_that_kind(tmp_path: Path) -> None:
    [found] = _objects(
        tmp_path, "apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: a, namespace: b}\n"
    )
    assert (found.api_version, found.label) == ("v1", "Pod 'b/a'")


GOOD = "apiVersion: v1\nkind: A\nmetadata: {name: a}\n---\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (GOOD + "a: [1\n", "line 6"),
        (GOOD + "- a\n", "line 5: this document is not an object"),
        (GOOD + "apiVersion: v1\nkind: B\n", "line 5: .*missing required field 'metadata'"),
        (GOOD + "apiVersion: v1\nkind: B\nmetadata: {}\n", "line 5: .*'name'"),
        (
            GOOD + "apiVersion: v1\nkind: ''\nmetadata: {name: a}\n",
            "line 5: .* no apiVersion, kind",
        ),
        (GOOD.encode() + b"\xff\xfe: 1\n", "line 5: .*not UTF-8"),
        (b"\x00\x00\x00\x00etcd", "is not a file of objects"),
        (gzip.compress(GOOD.encode() * 9, mtime=0)[:-9], "cut off or damaged"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(
    tmp_path: Path, content: str | bytes, message: str
) -> None:
    with pytest.raises(SnapshotError, match=message):
        _objects(tmp_path, content)


def test_a_file_that_is_not_there_or_a_folder_is_named(tmp_path: Path) -> None:
    for path, message in ((tmp_path / "no", "No such file"), (tmp_path, "is not a file")):
        with pytest.raises(SnapshotError, match=message):
            list(ObjectFile(path).objects(0))


def test_a_config_map_of_a_list_keeps_its_data() -> None:
    text = listed_document(b'{"metadata":{"name":"a"},"data":{"k":"v"}}', CONFIG_MAPS)
    assert yaml.safe_load(text)["data"] == {"k": "v"}
