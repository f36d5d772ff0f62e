"""The companions of a KwokctlResource as they are read and shown."""

from typing import Any

import pytest

from kwokctl.clusters.state.companion_templates import CompanionTemplate
from kwokctl.clusters.state.resource_templates import ResourceTemplate, load_templates
from kwokctl.clusters.state.shapes import shapes
from kwokctl.config.config_documents import Document
from kwokctl.errors import ConfigError

TEXT = "kind: Slice # {{ .words }}"
COMPANION = {"for": "each", "template": TEXT, "servedBy": "Kubernetes 1.34"}


def document(companions: Any, **body: Any) -> Document:
    return Document(
        kind="KwokctlResource",
        api_version="config.kwok.x-k8s.io/v1alpha1",
        name="own",
        body={"metadata": {"name": "own"}, **body, "companions": companions},
        source="own.yaml",
    )


def read(companions: Any) -> ResourceTemplate:
    return load_templates([document(companions, template="kind: Node")])["own"]


def test_they_are_read_with_their_places() -> None:
    (found,) = read([COMPANION]).companions

    assert found == CompanionTemplate(
        made_for="each",
        template=TEXT,
        served_by="Kubernetes 1.34",
        place="companions[0].template",
    )


def test_a_parameter_that_only_a_companion_mentions_is_used() -> None:
    assert read([COMPANION]).unused({"words": 1, "others": 2}) == ["others"]
    assert read(None).unused({"words": 1}) == ["words"]


@pytest.mark.parametrize(
    ("companions", "place"),
    [
        ("text", "'companions' must be a list"),
        (["text"], r"'companions\[0\]' must be a mapping"),
        ([COMPANION, {"template": TEXT}], r"'companions\[1\].for' is missing"),
        ([{**COMPANION, "for": "all"}], r"'companions\[0\].for' is 'all'"),
        ([{**COMPANION, "for": [1]}], r"'companions\[0\].for' is"),
        ([{"for": "each"}], r"'companions\[0\].template' must be the text"),
        ([{**COMPANION, "template": " "}], r"'companions\[0\].template' must be the text"),
        ([{**COMPANION, "servedBy": 1}], r"'companions\[0\].servedBy' must be a text"),
        ([{**COMPANION, "tmplate": TEXT}], r"'companions\[0\].tmplate' is not a field"),
    ],
)
def test_wrong_ones_are_refused_with_the_place(companions: Any, place: str) -> None:
    with pytest.raises(ConfigError, match=place):
        read(companions)


def test_a_shape_has_its_own_after_those_of_the_built_in_node_and_is_shown_whole() -> None:
    own = document([COMPANION], parameters={"labels": {}})
    built_in = load_templates([])["node"].companions

    template = load_templates([own])["own"]
    (shown,) = shapes([own], ["own"])

    assert template.companions[: len(built_in)] == built_in
    assert len(template.companions) == len(built_in) + 1
    companions = shown.document["companions"]
    assert companions[-1] == COMPANION
    written = document(companions, template="x").body["companions"]
    assert [each.template for each in read(written).companions] == [
        each.template for each in template.companions
    ]
