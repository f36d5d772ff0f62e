"""The folder of an add-on: what it becomes, and what is wrong with it."""

from pathlib import Path
from typing import Any

import pytest

from kwokctl.components.catalog import usual_options
from kwokctl.config.add_ons.enabling import resolve_with_add_ons
from kwokctl.config.add_ons.folder import read_add_on
from kwokctl.config.config_documents import Document, load_documents
from kwokctl.config.resolve import Resolved
from kwokctl.errors import ConfigError, UsageError
from kwokctl.expr import yaml

GREETER = Path(__file__).parents[3] / "support" / "greeter_add_on"


def body(**spec: Any) -> dict[str, Any]:
    usual = {"about": "Greets.", "components": [{"name": "greeter", "binary": "./greeter"}]}
    return {
        "apiVersion": "kwokctl.dev/v1alpha1",
        "kind": "AddOn",
        "metadata": {"name": "greeter"},
        "spec": usual | spec,
    }


def folder(tmp_path: Path, content: dict[str, Any]) -> Path:
    (tmp_path / "addon.yaml").write_text(yaml.dump_all([content]), encoding="utf-8")
    program = tmp_path / "greeter"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return tmp_path


def enabled(word: str, *documents: Document, **flags: Any) -> Resolved:
    given = {"enable": (word,), **flags}
    return resolve_with_add_ons(usual_options(), given, {}, documents).resolved


def test_a_folder_becomes_a_component_with_an_identity() -> None:
    options = enabled(str(GREETER)).options
    [extra] = options.extras

    assert (extra.name, extra.binary) == ("greeter", str(GREETER / "greeter.py"))
    assert extra.add_on is not None
    assert (extra.add_on.name, extra.add_on.files) == (
        "greeter",
        {"greeting": "hello from {cluster}\n"},
    )
    assert options.selection.enable == ()


def test_its_patches_count_and_the_user_s_come_after_them() -> None:
    found = resolve_with_add_ons(usual_options(), {"enable": (str(GREETER),)}, {}, ())

    assert [each.body["componentsPatches"][0]["name"] for each in found.documents] == [
        "kube-controller-manager"
    ]


def test_an_option_of_the_user_s_wins(tmp_path: Path) -> None:
    own = folder(tmp_path, body(options={"kubeVersion": "v1.35.1", "etcdPrefix": "/other"}))
    options = enabled(str(own), kube_version="v1.34.2").options

    assert (options.kube_version, options.arguments.go_gc) == ("v1.34.2", 200)


def test_one_that_a_file_enables_is_left_out_by_disable(tmp_path: Path) -> None:
    file = tmp_path / "kwok.yaml"
    file.write_text(
        "apiVersion: config.kwok.x-k8s.io/v1alpha1\nkind: KwokctlConfiguration\n"
        f"options: {{enable: [{GREETER}]}}\n"
    )
    documents = load_documents([str(file)])
    found = resolve_with_add_ons(usual_options(), {"disable": ("greeter",)}, {}, documents)

    assert found.resolved.options.extras == ()
    assert found.resolved.options.selection.disable == ()


@pytest.mark.parametrize("word", ["/no/such", "./none", "../x"])
def test_a_path_without_an_add_on_is_refused(word: str) -> None:
    with pytest.raises(UsageError, match="is not the folder of an add-on"):
        enabled(word)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"components": []}, "'spec.components' is empty"),
        ({"colour": "red"}, "unknown field 'colour'"),
        ({"manifests": ["../../secret.yaml"]}, "'../../secret.yaml' is not in the folder"),
        ({"manifests": ["none.yaml"]}, "there is no file '.*none.yaml'"),
        ({"manifests": [{"module": ["*.yaml"]}]}, "there is no 'spec.source'"),
        ({"components": [{"name": "greeter", "package": "."}]}, "has a 'package', and there is no"),
        ({"components": [{"name": "a", "files": ["b"]}]}, "'files' must be a mapping"),
        ({"components": [{"name": "a", "files": {"b": "."}}]}, "'a': cannot read"),
        ({"components": [{"name": "a", "addOn": {}}]}, "'addOn' is not a field"),
        ({"components": [{"name": "a"}, {"name": "a"}]}, "two components have the name 'a'"),
        ({"manifests": [{"module": []}]}, "'module' is empty"),
        ({"manifests": ["."]}, "'spec.manifests': cannot read"),
        (
            {"components": [{"name": "greeter", "binary": "./greeter", "files": {"a": "../b"}}]},
            "'../b' is not in the folder",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_place(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    own = folder(tmp_path, body(**change))
    with pytest.raises(ConfigError, match=f"(?i){message}") as caught:
        read_add_on(own)
    assert str(own) in str(caught.value)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"readiness": {"port": "http"}}, "'readiness' has the port 'http'"),
        ({"webhooks": {"port": "x", "services": ["y"]}}, "'webhooks' has the port 'x'"),
        ({"webhooks": {"port": "x"}}, "missing required field 'services'"),
        ({"colour": "red"}, "unknown field 'colour'"),
        ({"ports": [{"port": -1}]}, "-1 is not a port"),
        ({"args": ["--x={colour}"]}, r"'\{colour\}' in the component 'greeter'"),
        ({"args": ["--x={port.http}"]}, r"'\{port.http\}'"),
        ({"readiness": {"port": "http", "scheme": "ftp"}}, "scheme"),
    ],
)
def test_a_component_of_it_is_checked_as_the_user_s_are(
    tmp_path: Path, parts: dict[str, Any], message: str
) -> None:
    component = {"name": "greeter", "binary": "./greeter", **parts}
    own = folder(tmp_path, body(components=[component]))
    with pytest.raises(ConfigError, match=message):
        enabled(str(own))


@pytest.mark.parametrize(
    ("key", "value"), [("kind", "Add"), ("apiVersion", "v1"), ("metadata", {"name": "No Name"})]
)
def test_another_document_is_no_add_on(tmp_path: Path, key: str, value: Any) -> None:
    with pytest.raises(ConfigError):
        read_add_on(folder(tmp_path, {**body(), key: value}))
