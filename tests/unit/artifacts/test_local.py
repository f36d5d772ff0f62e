from pathlib import Path

import pytest

from kwokctl.artifacts.local import artifact
from kwokctl.artifacts.locations import Local
from kwokctl.errors import ArtifactError


def _program(path: Path) -> Path:
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def _given(value: str) -> Local:
    return Local(name="etcd", version="3.6.16", value=value)


def test_a_given_program_is_used_where_it_lies(tmp_path: Path) -> None:
    program = _program(tmp_path / "my-etcd")

    found = artifact(_given(str(program)))

    assert (found.name, found.version, found.command) == ("etcd", "3.6.16", (str(program),))


def test_a_relative_path_becomes_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = _program(tmp_path / "etcd")
    monkeypatch.chdir(tmp_path)

    assert artifact(_given("./etcd")).command == (str(program),)


def test_a_tilde_is_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = _program(tmp_path / "etcd")
    monkeypatch.setenv("HOME", str(tmp_path))

    assert artifact(_given("~/etcd")).command == (str(program),)


def test_a_bare_name_is_looked_up_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = _program(tmp_path / "etcd-from-path")
    monkeypatch.setenv("PATH", str(tmp_path))

    assert artifact(_given("etcd-from-path")).command == (str(program),)


def test_a_bare_name_of_a_file_here_is_that_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = _program(tmp_path / "etcd")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/nowhere")

    assert artifact(_given("etcd")).command == (str(program),)


def test_a_program_that_is_not_there_is_named_with_its_option(tmp_path: Path) -> None:
    with pytest.raises(
        ArtifactError, match=r"'/no/etcd', given for etcd, does not exist"
    ) as caught:
        artifact(_given("/no/etcd"))

    assert "--etcd-binary" in str(caught.value.hint)


def test_a_folder_is_no_program(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="is not a file"):
        artifact(_given(str(tmp_path)))


def test_a_file_that_cannot_be_executed_is_no_program(tmp_path: Path) -> None:
    file = tmp_path / "etcd"
    file.touch()

    with pytest.raises(ArtifactError, match="is not executable") as caught:
        artifact(_given(str(file)))

    assert f"chmod +x {file}" in str(caught.value.hint)
