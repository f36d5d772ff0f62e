"""The built-in shapes of machines."""

from typing import Any

import pytest

from kwokctl.clusters.scaling.objects.companion_objects import CompanionRenderer
from kwokctl.clusters.scaling.objects.render import Renderer
from kwokctl.clusters.scaling.scale_request import ScaleRequest
from kwokctl.clusters.state.resource_templates import load_templates, shape_files
from kwokctl.clusters.state.shapes import shapes
from kwokctl.config.config_documents import Document, load_documents
from kwokctl.errors import ConfigError, UsageError
from kwokctl.expr import yaml


def noon() -> float:
    return 1767268800.0


def renderer(shape: str, *documents: Document, params: tuple[str, ...] = ()) -> Renderer:
    request = ScaleRequest(kind=shape, replicas=5000, params=params)
    return Renderer(load_templates(documents)[shape], request, noon)


@pytest.mark.parametrize("name", shape_files())
def test_nodes_of_a_shape_are_copied_from_a_pattern(name: str) -> None:
    made = renderer(name)
    pattern = made.pattern()

    assert pattern is not None
    for serial in (0, 1, 17, 18, 4321):
        assert pattern.body_for(serial) == made.stamp(serial)


def test_a_node_has_what_its_machine_has() -> None:
    node = renderer("gb200-nvl72").stamp(40)
    labels, status = node["metadata"]["labels"], node["status"]

    assert labels["kwokctl.dev/shape"] == "gb200-nvl72"
    assert labels["kubernetes.io/arch"] == "arm64"
    assert labels["nvidia.com/gpu.product"] == "NVIDIA-GB200"
    assert labels["accelerator.topograph.run/domain"] == "gb200-nvl72-rack-0002"
    assert labels["fabric.topograph.run/tier-0"] == "gb200-nvl72-leaf-0001"
    assert status["allocatable"]["nvidia.com/gpu"] == "4"
    assert status["capacity"]["nvidia.com/gpu"] == "4"
    assert node["metadata"]["annotations"]["kwokctl.dev/place"].startswith(
        "rack=gb200-nvl72-rack-0002,leaf="
    )
    assert "taints" not in node["spec"]


def test_what_a_cloud_reserves_is_capacity_and_not_allocatable() -> None:
    status = renderer("p5").stamp(0)["status"]

    assert (status["allocatable"]["cpu"], status["capacity"]["cpu"]) == ("191450m", "192")


def test_a_param_changes_labels_taints_and_the_provider_id() -> None:
    params = (
        '.labels["team"] = "a"',
        '.taints = [{key: "nvidia.com/gpu", value: "present", effect: "NoSchedule"}]',
        '.providerID = "aws:///us-east-1a/NAME"',
        '.allocatable["rdma/ib"] = 8',
    )
    node = renderer("dgx-h100", params=params).stamp(7)

    assert node["metadata"]["labels"]["team"] == "a"
    assert node["spec"]["taints"] == [
        {"key": "nvidia.com/gpu", "effect": "NoSchedule", "value": "present"}
    ]
    assert node["spec"]["providerID"] == "aws:///us-east-1a/dgx-h100-000007"
    assert node["status"]["allocatable"]["rdma/ib"] == "8"


@pytest.mark.parametrize("name", ["node", "dgx-h100"])
def test_nodes_are_born_with_the_conditions_of_dialects_and_still_copied(name: str) -> None:
    made = renderer(name, params=('.dialects = ["aks", "dgx"]',))
    pattern = made.pattern()

    conditions = made.stamp(4321)["status"]["conditions"]
    assert len(conditions) == 5 + 19
    assert conditions[0] == {
        "type": "GPUMissing",
        "status": "False",
        "reason": "NoGPUMissing",
        "message": "All GPUs are present",
        "lastHeartbeatTime": "2026-01-01T12:00:00.000000000Z",
        "lastTransitionTime": "2026-01-01T12:00:00.000000000Z",
    }
    assert pattern is not None
    assert pattern.body_for(4321) == made.stamp(4321)


def test_a_node_without_dialects_is_born_without_conditions() -> None:
    assert "conditions" not in renderer("dgx-h100").stamp(0)["status"]


@pytest.mark.parametrize("name", ["dgx-h100", "p5"])
def test_a_shape_that_is_written_out_makes_the_same_nodes(name: str, tmp_path: Any) -> None:
    (found,) = shapes((), [name])
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.dump_all([dict(found.document)]))

    assert renderer(name, *load_documents([str(file)])).stamp(3) == renderer(name).stamp(3)


def mine(**body: Any) -> Document:
    return Document(
        kind="KwokctlResource",
        api_version="config.kwok.x-k8s.io/v1alpha1",
        name="mine",
        body={"kind": "KwokctlResource", "metadata": {"name": "mine"}, **body},
        source="mine.yaml, document 1",
    )


def test_a_document_with_parameters_alone_changes_the_built_in_node() -> None:
    own = mine(parameters={"allocatable": {"cpu": 4, "example.com/npu": 2}})
    node = renderer("mine", own).stamp(0)

    assert node["status"]["allocatable"] == {"cpu": "4", "example.com/npu": "2"}
    assert shapes([own])[0].name == "mine"
    assert shapes([own])[0].devices == {"example.com/npu": "2"}


def test_an_unknown_parameter_of_it_is_named() -> None:
    with pytest.raises(ConfigError, match=r"'parameters.allocatabel' is not a parameter") as caught:
        load_templates([mine(parameters={"allocatabel": {}})])

    assert caught.value.hint == "did you mean 'allocatable'?"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            ".topology.nodesPerRack = 0",
            "topology.nodesPerRack: must be a whole number of at least 1",
        ),
        ('.topology.vocabularies = ["gcp"]', "topology.vocabularies: there is no 'gcp'"),
        (
            '.dialects = ["dgx", "akz"]',
            r"dialects\[1\]: there is no dialect of faults called 'akz'",
        ),
    ],
)
def test_a_wrong_value_is_refused_with_its_place(change: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        renderer("dgx-h100", params=(change,)).stamp(0)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ('.labels = ["a"]', "--param: 'labels' must be a mapping"),
        ('.annotations = "a"', "--param: 'annotations' must be a mapping"),
        (".allocatable = 8", "--param: 'allocatable' must be a mapping"),
        ('.topology = "kueue"', "--param: 'topology' must be a mapping"),
        ('.taints = {key: "a"}', "--param: 'taints' must be a list"),
        ('.taints = ["a"]', "--param: 'taints[0]' must be a mapping"),
        ('.taints = [{effect: "NoSchedule"}]', "--param: 'taints[0].key' must be given"),
        (
            '.taints = [{key: "a", effect: "NoExecute"}, {key: "b"}]',
            "--param: 'taints[1].effect' must be one of NoSchedule, PreferNoSchedule, NoExecute",
        ),
        ('.nodeIPs = "192.0.2.1"', "--param: 'nodeIPs' must be a list"),
    ],
)
def test_a_parameter_of_another_form_is_refused(change: str, problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        renderer("dgx-h100", params=(change,))

    assert str(caught.value) == problem


def test_a_parameter_may_be_left_empty() -> None:
    node = renderer("dgx-h100", params=(".topology = null", ".nodeIPs = null")).stamp(0)

    assert "kwokctl.dev/place" not in node["metadata"]["annotations"]


def test_a_document_with_a_parameter_of_another_form_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"'parameters.labels' must be a mapping"):
        load_templates([mine(parameters={"labels": ["a"]})])


def test_a_document_with_a_taint_without_an_effect_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"'parameters.taints\[0\].effect' must be one of No"):
        load_templates([mine(parameters={"taints": [{"key": "a"}]})])


def test_an_unknown_shape_names_a_near_one() -> None:
    with pytest.raises(UsageError) as caught:
        shapes((), ["dgx-h10"])

    assert str(caught.value.hint).startswith("did you mean 'dgx-h100'?")


@pytest.mark.parametrize(
    ("topology", "kinds"),
    [
        ("null", set()),
        ("{}", set()),
        ("{vocabularies: null}", set()),
        ('{vocabularies: ["topograph", "kai"]}', set()),
        ('{vocabularies: ["kueue"]}', {"Topology"}),
        ('{vocabularies: ["volcano", "kueue"]}', {"Topology", "HyperNode"}),
        ('{vocabularies: ["volcano"], name: "shared"}', set()),
    ],
)
def test_a_vocabulary_brings_the_objects_that_its_scheduler_reads(
    topology: str, kinds: set[str]
) -> None:
    made_by = renderer("dgx-h100", params=(f".topology = {topology}",))
    companions = [CompanionRenderer(each, made_by) for each in made_by.companions]

    made = [
        body for each in companions if each.companion.made_for != "each" for body in each.of_set(3)
    ]

    assert {body["kind"] for body in made} == kinds
