""""""

from pathlib import Path

import pytest

from kwokctl.config.config_documents import load_documents
from kwokctl.config.document_folders import files_of
from kwokctl.config.document_kinds import CONFIGURATION, KWOK
from kwokctl.errors import ConfigError, NotServedError
from tests.support.listener import Listener


def write(folder: Path, text: str, name: str = "kwok.yaml") -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def test_documents_keep_their_kind_name_and_place(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """\
kind: Stage
apiVersion: kwok.x-k8s.io/v1alpha1
metadata: {name: pod-ready}
---
---
kind: KwokctlResource
metadata: {name: gpu}
""",
    )

    first, second = load_documents([path])

    assert (first.kind, first.name, first.source) == ("Stage", "pod-ready", f"{path}, document 1")
    assert first.api_version == "kwok.x-k8s.io/v1alpha1"
    assert (second.kind, second.name, second.source) == (
        "KwokctlResource",
        "gpu",
        f"{path}, document 3",
    )
    assert second.api_version == ""


def test_files_are_read_in_the_order_given_after_the_default_one(tmp_path: Path) -> None:
    default = tmp_path / "kwok.yaml"
    default.write_text("kind: KwokctlConfiguration\nmetadata: {name: default}")
    a = write(tmp_path, "kind: Stage\nmetadata: {name: a}", "a.yaml")
    b = write(tmp_path, "kind: Stage\nmetadata: {name: b}", "b.yaml")

    assert [d.name for d in load_documents([b, a], default=default)] == ["default", "b", "a"]
    assert [d.name for d in load_documents([a, str(default)], default=default)] == ["a", "default"]


def test_a_default_file_may_be_absent_listed_or_not(tmp_path: Path) -> None:
    default = tmp_path / "kwok.yaml"

    assert load_documents([], default=default) == []
    assert load_documents([str(default)], default=default) == []


def test_a_file_may_be_in_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    default = tmp_path / "kwok.yaml"
    default.write_text("kind: KwokctlConfiguration\nmetadata: {name: default}")
    write(tmp_path, "kind: Stage\nmetadata: {name: a}", "a.yaml")

    found = load_documents(["~/a.yaml", "~/kwok.yaml"], default=default)

    assert [d.name for d in found] == ["a", "default"]


def test_another_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"there is no file '.*absent\.yaml'"):
        load_documents([str(tmp_path / "absent.yaml")])


def test_a_folder_is_read_as_its_yaml_files_in_order(tmp_path: Path) -> None:
    for name in ("b.yaml", "a.yml", "c.yaml"):
        write(tmp_path, f"kind: Stage\nmetadata: {{name: {name[0]}}}", name)
    write(tmp_path, "not: [read", "notes.txt")
    (tmp_path / "below.yaml").mkdir()

    found = load_documents([str(tmp_path)])

    assert [document.name for document in found] == ["a", "b", "c"]
    assert found[0].source == f"{tmp_path}/a.yml, document 1"


@pytest.mark.parametrize("kind", ["Stage", "KwokConfiguration", "Cluster"])
def test_another_api_version_is_refused_with_the_one_that_is_supported(
    tmp_path: Path, kind: str
) -> None:
    path = write(tmp_path, f"kind: {kind}\napiVersion: example.com/v9\n")

    with pytest.raises(ConfigError, match=r"'apiVersion' is 'example\.com/v9'") as caught:
        load_documents([path])

    assert str(caught.value.hint).startswith("write 'apiVersion: ")


@pytest.mark.parametrize(
    ("kind", "given", "supported"),
    [
        ("KwokConfiguration", KWOK, CONFIGURATION),
        ("KwokctlConfiguration", KWOK, CONFIGURATION),
        ("KwokctlResource", KWOK, CONFIGURATION),
        ("Stage", CONFIGURATION, KWOK),
    ],
)
def test_the_other_api_version_of_kwok_is_read_as_the_one_that_is_supported(
    tmp_path: Path, kind: str, given: str, supported: str
) -> None:
    path = write(tmp_path, f"kind: {kind}\napiVersion: {given}\n")
    listener = Listener()

    (found,) = load_documents([path], progress=listener)

    assert found.body == {"kind": kind, "apiVersion": supported}
    assert listener.warnings == [
        f"{path}, document 1: 'apiVersion' is '{given}', and a {kind} is read as one of '{supported}'"
    ]


def test_a_list_is_its_items(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """
apiVersion: v1
kind: List
items:
- {kind: Stage, metadata: {name: a}}
- {kind: Deployment}
- {kind: List, items: [{kind: Metric, metadata: {name: b}}]}
---
kind: List
---
kind: Stage
metadata: {name: c}
""",
    )
    listener = Listener()

    found = load_documents([path], progress=listener)

    assert [(each.kind, each.name, each.source) for each in found] == [
        ("Stage", "a", f"{path}, document 1, item 1"),
        ("Metric", "b", f"{path}, document 1, item 3, item 1"),
        ("Stage", "c", f"{path}, document 3"),
    ]
    assert listener.warnings == [
        f"{path}, document 1, item 2: kind 'Deployment' is not known and is left out"
    ]


def test_standard_input_is_read_once() -> None:
    reads = iter([b"kind: Stage\nmetadata: {name: piped}"])

    documents = load_documents(["-", "-"], stdin=lambda: next(reads))

    assert [(d.name, d.source) for d in documents] == [("piped", "standard input, document 1")]


def test_an_unknown_kind_is_warned_about_and_left_out(tmp_path: Path) -> None:
    path = write(tmp_path, "kind: stages\n---\nkind: Deployment\n---\nkind: Metric\n")
    listener = Listener()

    documents = load_documents([path], progress=listener)

    assert [d.kind for d in documents] == ["Metric"]
    assert listener.warnings == [
        f"{path}, document 1: kind 'stages' is not known and is left out; did you mean 'Stage'?",
        f"{path}, document 2: kind 'Deployment' is not known and is left out",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- kind: Stage", "document 1 is a list, not a mapping"),
        ("kind: Stage\n---\n7", "document 2 is a number, not a mapping"),
        ("kind: [Stage]", "document 1: 'kind' is a list, not a string"),
        ("metadata: {}", "document 1: 'kind' is missing"),
        ("kind: List\nitems: {a: b}\n", "document 1: 'items' is a mapping, not a list"),
        ("kind: List\nitems: [1]\n", "document 1, item 1 is a number, not a mapping"),
        ("kind: Stage\napiVersion: 1", "document 1: 'apiVersion' is a number, not a string"),
        ("kind: Stage\nmetadata: x", "document 1: 'metadata' is a string, not a mapping"),
        (
            "kind: Stage\nmetadata: {name: 7}",
            "document 1: 'metadata.name' is a number, not a string",
        ),
        ("kind: Stage\n---\na: [", r"not valid YAML: .* at line \d"),
    ],
)
def test_a_wrong_shape_names_file_document_and_field(
    tmp_path: Path, text: str, message: str
) -> None:
    path = write(tmp_path, text)

    with pytest.raises(ConfigError, match=message) as caught:
        load_documents([path])

    assert path in str(caught.value)


def test_a_misspelt_kind_is_pointed_out(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_documents([write(tmp_path, "Kind: Stage")])

    assert caught.value.hint == "'Kind' is spelt 'kind'"


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "kwok.yaml"
    path.write_bytes(b"kind: \xff")

    with pytest.raises(ConfigError, match="byte 6 is not UTF-8"):
        load_documents([str(path)])


def test_an_unknown_field_names_the_nearest_known_one(tmp_path: Path) -> None:
    path = write(tmp_path, "kind: KwokctlResource\nparamters: {}")
    (document,) = load_documents([path])

    with pytest.raises(ConfigError, match="'paramters' is not a field of a KwokctlResource") as e:
        document.check_fields(["parameters", "template"])

    assert e.value.hint == "did you mean 'parameters'?"
    document.check_fields(["paramters"])


def test_a_fault_names_document_and_field(tmp_path: Path) -> None:
    path = write(tmp_path, "kind: Stage")
    (document,) = load_documents([path])

    error = document.fault("spec.delay", "is not a mapping")

    assert str(error) == f"{path}, document 1: 'spec.delay' is not a mapping"


def kustomization(folder: Path, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "kustomization.yaml").write_text(text)


def test_a_kustomization_that_only_lists_files_and_folders_is_followed(tmp_path: Path) -> None:
    kustomization(tmp_path, "resources: [z.yaml, fast]\n")
    kustomization(tmp_path / "fast", "kind: Kustomization\nresources:\n- pod.yaml\n")
    for name in ("z.yaml", "unlisted.yaml", "fast/pod.yaml"):
        (tmp_path / name).touch()

    assert files_of(tmp_path) == [tmp_path / "z.yaml", tmp_path / "fast" / "pod.yaml"]


def test_what_needs_kustomize_is_refused_by_name_with_the_command(tmp_path: Path) -> None:
    kustomization(tmp_path, "resources: []\npatches: [{path: a.yaml}]\n")

    with pytest.raises(NotServedError, match="'patches' is not supported") as caught:
        files_of(tmp_path)

    assert f"kubectl kustomize {tmp_path}" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("resources: [absent.yaml]", "lists 'absent.yaml', which does not exist"),
        ("resources: [https://example.com/a.yaml]", "does not exist"),
        ("resources: [.]", "includes itself"),
        ("resources: a.yaml", "must be a list of files"),
        ("- a", "is not a mapping"),
        ("a: [", "is not valid YAML"),
        ("", "has no YAML file"),
    ],
)
def test_a_broken_kustomization_is_named(tmp_path: Path, text: str, said: str) -> None:
    kustomization(tmp_path, text)

    with pytest.raises(ConfigError, match=said):
        files_of(tmp_path)


def test_an_empty_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="has no YAML file"):
        files_of(tmp_path)
