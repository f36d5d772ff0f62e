"""`kwokctl config` as its users see it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kwokctl.expr import yaml

Words = Callable[[str], int]
ONE = """\
kind: KwokctlConfiguration
options: {etcdPort: 5, enableMetricsServer: true}
componentsPatches: [{name: etcd, extraArgs: [{key: a, value: 1}]}]
---
apiVersion: config.kwok.x-k8s.io/v1alpha1
kind: KwokctlResource
metadata: {name: thing}
template: one
"""
TWO = """\
kind: KwokctlConfiguration
options: {heartbeatFactor: 2.5}
componentsPatches: [{name: etcd, extraArgs: [{key: a, value: 2}]}]
---
apiVersion: config.kwok.x-k8s.io/v1alpha1
kind: KwokctlResource
metadata: {name: thing}
template: two
"""


@pytest.fixture
def files(tmp_path: Path) -> str:
    """Two files that are given together."""
    for name, text in (("one.yaml", ONE), ("two.yaml", TWO)):
        (tmp_path / name).write_text(text)
    return f"{tmp_path}/one.yaml,{tmp_path}/two.yaml"


def test_what_takes_effect_is_printed_with_defaults_files_and_variables(
    words: Words,
    files: str,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KWOK_ETCD_PORT", "7")

    assert words(f"config view --config {files}") == 0
    head, template = yaml.load_all(capfd.readouterr().out)

    options = head["options"]
    assert (options["etcdPort"], options["heartbeatFactor"]) == (7, 2.5)
    assert options["bindAddress"] == "127.0.0.1"
    assert head["componentsPatches"] == [
        {"name": "etcd", "extraArgs": [{"key": "a", "value": "2"}]}
    ]
    assert template["template"] == "two"


def test_the_default_file_is_written_read_and_removed(
    words: Words, files: str, environ: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    file = Path(environ["KWOK_WORKDIR"]) / "kwok.yaml"

    assert words(f"config tidy --config {files}") == 0
    head, template = yaml.load_all(file.read_text())
    assert head["options"] == {"enable": ["metrics-server"], "etcdPort": 5, "heartbeatFactor": 2.5}
    assert template["metadata"] == {"name": "thing"}

    assert words("config tidy") == 0
    assert "holds it already" in capfd.readouterr().err
    assert words("config view") == 0
    assert "etcdPort: 5" in capfd.readouterr().out
    assert words("config reset") == 0
    assert not file.exists()
    assert words("config reset") == 0
    assert f"there is no '{file}'" in capfd.readouterr().err


def test_files_are_converted_in_place_only_where_there_is_something_to_convert(
    words: Words, files: str, capfd: pytest.CaptureFixture[str]
) -> None:
    one, two = files.split(",")

    assert words(f"config convert {one} {two} --write") == 0
    assert capfd.readouterr().err == f"'{one}' is converted\n"
    assert yaml.load_all(Path(one).read_text())[0]["options"] == {
        "etcdPort": 5,
        "enable": ["metrics-server"],
    }
    assert Path(two).read_text() == TWO


def test_several_files_are_printed_as_one_stream_of_documents(
    words: Words, files: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert words(f"config convert {files.replace(',', ' ')}") == 0
    assert len(yaml.load_all(capfd.readouterr().out)) == 4


def test_a_file_that_is_not_there_is_refused_before_any_is_changed(
    words: Words, files: str, capfd: pytest.CaptureFixture[str]
) -> None:
    one, _ = files.split(",")

    assert words(f"config convert {one} /no/such/file -w") == 2
    assert Path(one).read_text() == ONE
    assert "'/no/such/file' is not a file" in capfd.readouterr().err


def test_a_file_with_a_comma_in_its_name_is_one_file(
    words: Words, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a,b.yaml"
    file.write_text(TWO)

    assert words(f"config view -c {file}") == 0
    assert "heartbeatFactor: 2.5" in capfd.readouterr().out
