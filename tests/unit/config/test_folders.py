from pathlib import Path

import pytest

from kwokctl.config.folders import files_of
from kwokctl.errors import ConfigError, NotServedError


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
