from typing import Any

import pytest

from kwokctl.config.config_documents import Document
from kwokctl.controller.configuration import asks_for_spans, given_options, idle_options
from kwokctl.errors import ConfigError


def configuration(kind: str = "KwokConfiguration", **body: Any) -> Document:
    return Document(
        kind=kind, api_version="", name="", body={"kind": kind, **body}, source="kwok.yaml"
    )


def test_the_options_of_several_documents_are_merged_and_the_later_wins() -> None:
    documents = [
        configuration(options={"cidr": "10.1.0.0/16", "nodeIP": "192.0.2.1"}),
        configuration(options={"cidr": "10.2.0.0/16", "manageAllNodes": None}),
    ]

    assert given_options(documents) == {"cidr": "10.2.0.0/16", "nodeIP": "192.0.2.1"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"cidr": "10.0.0.0"}, "options.cidr"),
        ({"nodePort": 70000}, "options.nodePort"),
        ({"nodePort": "http"}, "must be a whole number"),
        ({"podPlayStageParallelism": -1}, "options.podPlayStageParallelism"),
        ({"manageNodesWithLabelSelector": "a=b=c"}, "not a selector"),
        ({"manageSingleNode": "../x"}, "not a name of a node"),
        ({"manageAllNodes": "yes"}, "must be true or false"),
        ({"enableCRDs": "Stage"}, "must be a list of strings"),
    ],
)
def test_a_bad_value_is_named_with_its_place(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        given_options([configuration(options=options)])


def test_a_misspelt_option_is_named_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match="not an option of the controller") as caught:
        given_options([configuration(options={"nodesIP": "192.0.2.1"})])
    assert caught.value.hint == "did you mean 'nodeIP'?"

    with pytest.raises(ConfigError, match="'option' is not a field"):
        given_options([configuration(option={})])


def test_what_the_controller_does_nothing_with_is_named_once() -> None:
    documents = [
        configuration(options={"enableContentionProfiling": True, "enableProfilingHandler": True}),
        configuration(tracing={"endpoint": "localhost:4317"}),
        configuration(tracing={"endpoint": "localhost:4318"}),
        configuration("ResourceUsage"),
        configuration("Stage"),
    ]

    assert [*idle_options(documents)] == ["'KwokConfiguration.options.enableContentionProfiling'"]
    assert asks_for_spans(documents)
    assert not asks_for_spans(documents[:1])
