"""The JSON schema of configuration documents, and every example that the project shows."""

import json
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from kwokctl.clusters.json_schema import schema
from kwokctl.errors import ConfigError
from kwokctl.expr import yaml
from kwokctl.load.description.schema import SHAPED

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
FILES = [
    *sorted((ROOT / "examples").rglob("*.yaml")),
    *sorted((ROOT / "templates/stages").rglob("*.yaml")),
    *sorted((ROOT / "templates/objects").rglob("*.yaml")),
    *sorted((ROOT / "templates/fleets").rglob("*.yaml")),
    *sorted((ROOT / "templates/faults").rglob("*.yaml")),
    *sorted((ROOT / "templates/metrics").rglob("*.yaml")),
    *sorted((ROOT / "templates/addons").rglob("addon.yaml")),
]
SCHEMA = schema([SHAPED])
KINDS = SCHEMA["properties"]["kind"]["enum"]
VALIDATOR = Draft202012Validator(SCHEMA)


FENCE = re.compile(r"^([ ]*)```(sh|ya?ml)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)


def documents(text: str) -> Iterator[dict[str, Any]]:
    """Yield the documents in a text that are of a kind of kwokctl's."""
    try:
        found = yaml.load_all(text)
    except ConfigError:
        return  # a part of a file
    for body in found:
        if isinstance(body, dict) and body.get("kind") in KINDS:
            yield body


def blocks(page: Path) -> Iterator[str]:
    """Yield the examples in YAML that a page shows, also those that a shell writes into a file."""
    yield from fenced(page.read_text("utf-8"))


def fenced(text: str) -> Iterator[str]:
    """Yield the examples in YAML of a text; in a list they are indented."""
    for _, language, block in FENCE.findall(text):
        if language != "sh":
            yield textwrap.dedent(block)
            continue
        shell = textwrap.dedent(block)
        yield from re.findall(r"<<'?EOF'?[^\n]*\n(.*?)^EOF", shell, re.MULTILINE | re.DOTALL)


def examples() -> Iterator[Any]:
    """Yield each document that the project shows, with its place."""
    for page in PAGES:
        for number, block in enumerate(blocks(page)):
            for body in documents(block):
                yield pytest.param(body, id=f"{page.relative_to(ROOT)}-{number}")
    for file in FILES:
        for body in documents(file.read_text("utf-8")):
            yield pytest.param(body, id=str(file.relative_to(ROOT)))


def faults(body: object) -> list[str]:
    """Return what the schema finds wrong with a document."""
    return [f"{fault.json_path}: {fault.message}" for fault in VALIDATOR.iter_errors(body)]


@pytest.mark.parametrize("body", list(examples()))
def test_every_example_is_as_the_schema_says(body: dict[str, Any]) -> None:
    assert faults(body) == []


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(schema([SHAPED]))


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({"etcdPort": 70_000}, "$.options.etcdPort"),
        ({"etcdPrt": 1}, "$.options"),
        ({"heartbeatFactor": "2.5"}, "$.options.heartbeatFactor"),
        ({"etcdQuotaBackendSize": "lots"}, "$.options.etcdQuotaBackendSize"),
        ({"enableCRDs": ["Stages"]}, "$.options.enableCRDs[0]"),
        ({"dataPath": "disk"}, "$.options.dataPath"),
        ({"kueuevizPort": 5}, "$.options.kueuevizPort"),
        ({"securePort": False}, "$.options.securePort"),
    ],
)
def test_what_kwokctl_refuses_the_schema_does_not_accept(
    options: dict[str, Any], place: str
) -> None:
    (fault,) = faults({"kind": "KwokctlConfiguration", "options": options})

    assert fault.startswith(f"{place}: ")


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({"nodePort": 70_000}, "$.options.nodePort"),
        ({"nodeLeaseParallelism": -1}, "$.options.nodeLeaseParallelism"),
        ({"cidr": "10.0.0.0"}, "$.options.cidr"),
        ({"enableCRDs": ["Stages"]}, "$.options.enableCRDs[0]"),
        ({"manageAllNodes": "yes"}, "$.options.manageAllNodes"),
    ],
)
def test_of_the_controllers_options_the_schema_knows_the_ranges(
    options: dict[str, Any], place: str
) -> None:
    (fault,) = faults({"kind": "KwokConfiguration", "options": options})

    assert fault.startswith(f"{place}: ")


def test_the_schema_has_the_kinds_that_are_files_of_their_own() -> None:
    rules = {"kind": "SnapshotRules", "apiVersion": "kwokctl.dev/v1alpha1"}
    spec = {"about": "It.", "components": [{"name": "it"}]}
    add_on = {
        "kind": "AddOn",
        "apiVersion": "kwokctl.dev/v1alpha1",
        "metadata": {"name": "it"},
        "spec": spec,
    }

    assert faults(rules) == faults(add_on) == []
    assert faults({**rules, "nodes": "both"})
    assert faults({**add_on, "spec": {**spec, "colour": "red"}})
    assert faults({**add_on, "apiVersion": "v1"})


def test_an_example_in_a_list_is_found() -> None:
    text = "1. So:\n\n   ```yaml\n   kind: Stage\n   spec: {}\n   ```\n\n```sh\ncat <<EOF\na: 1\nEOF\n```\n"

    assert [*fenced(text)] == ["kind: Stage\nspec: {}\n", "a: 1\n"]


@pytest.mark.parametrize(
    "options",
    [
        {"kubeVersion": 1.35, "heartbeatFactor": 2.5, "etcdFsync": False, "nodeHeartbeat": "off"},
        {"kueuevizPort": 0, "jaegerImage": "x", "securePort": True, "enable": None},
        {"enable": ["metrics-server"], "kubeAuthorization": False},
    ],
)
def test_what_kwokctl_reads_the_schema_accepts(options: dict[str, Any]) -> None:
    assert faults({"kind": "KwokctlConfiguration", "options": options}) == []


def test_a_misspelt_field_is_found_wherever_it_is() -> None:
    patch = {"name": "etcd", "extraArg": []}
    spec = {"resourceRef": {"kind": "Pod"}, "stepz": []}

    for body in (
        {"kind": "KwokctlConfiguration", "option": {}},
        {"kind": "KwokctlConfiguration", "componentsPatches": [patch]},
        {"kind": "KwokConfiguration", "options": {"cidrs": ""}},
        {"kind": "Stage", "metadata": {"name": "x"}, "spec": spec},
        {"kind": "Stages"},
    ):
        assert faults(body), body


def test_the_file_in_the_documents_is_this_schema() -> None:
    file = ROOT / "docs/reference/configuration.schema.json"

    assert json.loads(file.read_text("utf-8")) == schema([SHAPED])
