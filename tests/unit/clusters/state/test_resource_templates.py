""""""

from typing import Any

import pytest

from kwokctl.clusters.state.resource_templates import (
    find_template,
    load_templates,
    template_name,
    with_dialects,
    with_one_address,
)
from kwokctl.config.config_documents import Document
from kwokctl.errors import ConfigError, UsageError
from kwokctl.replacing import replace


def resource(name: str, **body: Any) -> Document:
    return Document(
        kind="KwokctlResource",
        api_version="config.kwok.x-k8s.io/v1alpha1",
        name=name,
        body={"kind": "KwokctlResource", "metadata": {"name": name}, **body},
        source="mine.yaml, document 1",
    )


def test_nodes_and_pods_are_built_in() -> None:
    templates = load_templates([])

    assert {"node", "pod", "dgx-h100"} <= set(templates)
    assert templates["node"].parameters["allocatable"] == {
        "cpu": 32,
        "ephemeral-storage": "512Gi",
        "hugepages-1Gi": 0,
        "hugepages-2Mi": 0,
        "memory": "256Gi",
        "pods": 110,
    }
    assert templates["pod"].parameters == {
        "initContainers": [],
        "containers": [{"name": "container-0", "image": "busybox"}],
        "hostNetwork": False,
        "nodeName": "",
    }


@pytest.mark.parametrize(
    ("word", "name"),
    [("nodes", "node"), ("no", "node"), ("pods", "pod"), ("po", "pod"), ("gpu", "gpu")],
)
def test_words_of_kubectl_mean_the_built_in_templates(word: str, name: str) -> None:
    assert template_name(load_templates([]), word) == name


def test_a_template_of_the_user_has_its_own_name_before_a_word_of_kubectl() -> None:
    templates = load_templates([resource("nodes", template="kind: Node")])

    assert template_name(templates, "nodes") == "nodes"


def test_a_template_of_the_user_comes_before_the_built_in_one() -> None:
    mine = resource("node", template="kind: Node", parameters={"a": 1})

    template = load_templates([mine, resource("node", template="kind: Other")])["node"]

    assert (template.template, template.parameters) == ("kind: Node", {"a": 1})
    assert template.source == "mine.yaml, document 1"


def test_documents_of_other_kinds_are_ignored() -> None:
    stage = Document(kind="Stage", api_version="", name="s", body={"kind": "Stage"}, source="x")

    assert set(load_templates([stage])) == set(load_templates([]))


def test_absent_parameters_are_empty() -> None:
    assert load_templates([resource("gpu", template="kind: Node")])["gpu"].parameters == {}


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (resource("", template="kind: Node"), "'metadata.name' is missing"),
        (resource("gpu"), "'template' is missing"),
        (resource("gpu", template=" "), "'template' must be the text of a Go template"),
        (resource("gpu", template={"kind": "Node"}), "'template' must be the text"),
        (resource("gpu", template="a", params={}), "'params' is not a field of a KwokctlResource"),
    ],
)
def test_a_wrong_shape_is_named(document: Document, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        load_templates([document])

    assert str(caught.value).startswith("mine.yaml, document 1")


def test_an_unknown_template_names_the_near_and_the_known() -> None:
    with pytest.raises(UsageError, match="no resource template called 'nodes'") as caught:
        find_template(load_templates([]), "nodes")

    assert caught.value.hint == (
        "did you mean 'node'? there are: node, pod, and the shapes of 'kwokctl get shapes'"
    )


def test_an_unknown_template_with_nothing_near_names_the_known() -> None:
    with pytest.raises(UsageError) as caught:
        find_template(load_templates([]), "volume")

    assert caught.value.hint
    assert caught.value.hint.startswith("there are: node, pod, and the shapes of")


@pytest.mark.parametrize(
    ("parameters", "unused"),
    [
        ({"a": 2, "foo": {"bar": 3}}, ["foo"]),
        ({"a": 2, "extra": 1}, []),
        ({"a": 2, "text": 1, "ex": 1, "a-key": 1, "no-key": 1}, ["ex", "no-key"]),
        ([1, 2], []),
    ],
)
def test_a_parameter_that_is_neither_declared_nor_mentioned_is_unused(
    parameters: Any, unused: list[str]
) -> None:
    mine = resource(
        "mine", template='kind: Text{{ .extra }}{{ index . "text" "a-key" }}', parameters={"a": 1}
    )

    assert load_templates([mine])["mine"].unused(parameters) == unused


@pytest.mark.parametrize("name", ["node", "dgx-h100"])
def test_a_controller_of_another_make_gets_one_address_for_each_built_in_node(name: str) -> None:
    template = load_templates([])[name]

    assert with_one_address(template).parameters["nodeIPs"] == template.parameters["nodeIPs"][:1]
    assert len(template.parameters["nodeIPs"]) == 2


def test_other_templates_keep_their_addresses() -> None:
    own = load_templates([resource("node", template="kind: Node", parameters={"nodeIPs": [1, 2]})])

    assert with_one_address(own["node"]) == own["node"]
    assert with_one_address(own["pod"]) == own["pod"]


def test_the_dialects_of_a_cluster_count_where_a_template_chooses_none() -> None:
    node = find_template(load_templates([]), "node")

    assert with_dialects(node, ("aks", "dgx")).parameters["dialects"] == ["aks", "dgx"]
    assert with_dialects(node, ()) is node
    chosen = replace(node, parameters={**node.parameters, "dialects": ["eks"]})
    assert with_dialects(chosen, ("aks",)) is chosen
    pod = find_template(load_templates([]), "pod")
    assert with_dialects(pod, ("aks",)) is pod
