"""The rows of the page of compatibility that are about documents, variables, `kwok` and `kectl`."""

import re
from pathlib import Path
from typing import Any

import pytest

from kwokctl.cli.main import run
from kwokctl.clusters.configuration.controller_documents import check_documents
from kwokctl.clusters.state.kept_documents import kept_documents
from kwokctl.components.catalog import usual_options
from kwokctl.config.config_documents import Document, load_documents
from kwokctl.config.extras.extras_reader import read_extras
from kwokctl.config.patches.patch_reader import read_patches
from kwokctl.controller.configuration import OPTIONS, ControllerOption, given_options, idle_options
from kwokctl.errors import NotServedError, UsageError
from kwokctl.kwok.flags import parser
from tests.support.compatibility_page import SERVED, has_test, part, rows, titles
from tests.support.original_kwokctl import FACTS
from tests.support.reaching_runner import ReachingRunner

_TEXTS = {
    "cidr": "10.9.0.0/16",
    "nodeIP": "192.0.2.9",
    "nodeName": "here",
    "manageSingleNode": "a",
    "serverAddress": "127.0.0.1:1",
}


def ids(found: list[tuple[str, ...]]) -> list[str]:
    return [row[0] for row in found]


def configuration(**body: Any) -> Document:
    whole = {"kind": "KwokConfiguration", **body}
    return Document(kind="KwokConfiguration", api_version="", name="", body=whole, source="f")


def another(name: str, option: ControllerOption) -> object:
    """Return a value that an option takes and that is not its default."""
    if isinstance(option.default, bool):
        return not option.default
    if isinstance(option.default, int):
        return 7
    return ["Stage"] if isinstance(option.default, list) else _TEXTS.get(name, "a=b")


CONTROLLER = rows("Options of a KwokConfiguration")


@pytest.mark.parametrize(("name", "fate", "remark"), CONTROLLER, ids=ids(CONTROLLER))
def test_an_option_of_the_controller_is_used_or_refused(name: str, fate: str, remark: str) -> None:
    usual = usual_options()
    if name.startswith("tracing."):
        given = configuration(tracing={name.removeprefix("tracing."): "a:4317"})
    else:
        given = configuration(options={name: another(name, OPTIONS[name])})
    if fate in SERVED:
        check_documents(usual, [given])
        [kept] = kept_documents(usual, [given])
        read = given_options([given])[name]
        assert read == given.body["options"][name]
        assert str(kept["options"][name]).endswith(str(read))
        return
    assert remark
    if remark.startswith("a warning"):
        check_documents(usual, [given])
        assert [*idle_options([given])] == [f"'KwokConfiguration.options.{name}'"]
        return
    with pytest.raises(NotServedError, match=f"'KwokConfiguration.*{name.partition('.')[0]}'"):
        check_documents(usual, [given])


def test_the_default_of_each_option_of_the_controller_is_the_originals_or_says_so() -> None:
    ours = {
        name: option.default if option.original is None else option.original
        for name, option in OPTIONS.items()
    }
    assert {**ours, **FACTS["controller_options"]} == ours


_FULL: dict[str, Any] = {
    "name": "web",
    "links": ["etcd"],
    "binary": "/bin/sh",
    "image": "example/web:v1",
    "command": ["/web"],
    "user": "1000:1000",
    "args": ["--port=80"],
    "workDir": "/srv",
    "ports": [{"name": "http", "port": 80, "hostPort": 8080}],
    "envs": [{"name": "A", "value": "b"}],
    "volumes": [{"hostPath": "/etc", "mountPath": "/x", "readOnly": True}],
    "metric": {"scheme": "http", "host": "localhost:80", "path": "/metrics"},
    "metricsDiscovery": {"scheme": "http", "host": "localhost:80", "path": "/pages"},
    "manifestContents": ["{apiVersion: v1, kind: Namespace, metadata: {name: web}}"],
    "version": "v1",
}
COMPONENT = rows("Fields of `components`")


@pytest.mark.parametrize(("name", "fate", "remark"), COMPONENT, ids=ids(COMPONENT))
def test_a_field_of_a_component_is_kept(name: str, fate: str, remark: str) -> None:
    given = {key: _FULL[key] for key in {"name", "binary", name}}

    [found] = read_extras([given], "f")

    assert fate in SERVED
    assert found.to_document()[name] == _FULL[name]


_PATCH: dict[str, Any] = {
    "name": "etcd",
    "extraArgs": [{"key": "v", "value": "4"}],
    "extraVolumes": [{"hostPath": "/etc", "mountPath": "/x"}],
    "extraEnvs": [{"name": "A", "value": "b"}],
}
PATCH = rows("Fields of `componentsPatches`")


@pytest.mark.parametrize(("name", "fate", "remark"), PATCH, ids=ids(PATCH))
def test_a_field_of_a_patch_is_kept(name: str, fate: str, remark: str) -> None:
    [whole] = read_patches([_PATCH], "f")
    [found] = read_patches([{"name": "etcd", name: _PATCH[name]}], "f")

    kept = {
        "name": found.name,
        "extraArgs": found.args,
        "extraVolumes": found.volumes,
        "extraEnvs": found.envs,
    }
    wanted = {
        "name": whole.name,
        "extraArgs": whole.args,
        "extraVolumes": whole.volumes,
        "extraEnvs": whole.envs,
    }
    assert fate in SERVED
    assert kept[name] == wanted[name]
    assert kept[name]


KINDS = rows("Kinds of documents")


@pytest.mark.parametrize(("kind", "fate", "remark"), KINDS, ids=ids(KINDS))
def test_a_document_of_a_kind_is_read(kind: str, fate: str, remark: str, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(f"{{kind: {kind}, metadata: {{name: a}}}}")

    [found] = load_documents([str(tmp_path / "a.yaml")])

    assert (fate, found.kind) == ("same", kind)


VARIABLES = rows("Other variables")


@pytest.mark.parametrize(("name", "fate", "remark"), VARIABLES, ids=ids(VARIABLES))
def test_a_variable_that_is_no_option_has_a_test(name: str, fate: str, remark: str) -> None:
    fact = FACTS["other_variables"][name]

    assert has_test(fact["test"]) if fate in SERVED else remark


OF_KWOK = rows("Flags of `kwok`")


@pytest.mark.parametrize(("words", "fate", "remark"), OF_KWOK, ids=ids(OF_KWOK))
def test_a_flag_of_kwok_is_read_or_refused(
    words: str, fate: str, remark: str, capsys: pytest.CaptureFixture[str]
) -> None:
    flag = words.removeprefix("kwok ")
    if flag == "--version":
        with pytest.raises(SystemExit, match="0"):
            parser().parse_args([flag])
        assert capsys.readouterr().out
        return
    number = flag in ("--node-port", "--node-lease-duration-seconds", "--v")
    value = "true" if flag == "--manage-all-nodes" else "4" if number else "x"
    if fate not in SERVED:
        with pytest.raises(UsageError, match=f"'{flag}' is not supported"):
            parser().parse_args([f"{flag}={value}"])
        return
    usual, given = parser().parse_args([]), parser().parse_args([f"{flag}={value}"])
    assert vars(usual) != vars(given)


OF_KECTL = rows("Words of `kectl`")


@pytest.mark.parametrize(("words", "fate", "remark"), OF_KECTL, ids=ids(OF_KECTL))
def test_a_flag_of_kectl_is_read_or_refused(
    words: str, fate: str, remark: str, runner: object, capfd: pytest.CaptureFixture[str]
) -> None:
    _, command, flag = words.split()
    if fate in SERVED and not remark:
        assert run(["kectl", command, "--help"], ReachingRunner()) == 0
        assert flag in capfd.readouterr().out
        return
    value = [] if flag.startswith("--watch") else ["1s"]
    code = run(["kectl", command, "pods", flag, *value], ReachingRunner())
    said = capfd.readouterr().err
    refused = f"'{flag.removesuffix('-only')}' is not supported" in said
    assert (code == 2 and refused) if fate == "refused" else not refused


@pytest.mark.parametrize("title", titles())
def test_the_test_that_a_part_names_exists(title: str) -> None:
    (node,) = re.findall(r"^`(.*)` checks each row\.", part(title), re.MULTILINE)

    assert has_test(node)


_FACTS = {**FACTS["everywhere"], **FACTS["commands"]}


@pytest.mark.parametrize("name", [name for name in _FACTS if name != "kectl"])
def test_the_test_that_shows_what_a_command_does_exists(name: str) -> None:
    assert has_test(_FACTS[name]["test"])
