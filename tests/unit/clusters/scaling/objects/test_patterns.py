import re
from pathlib import Path
from typing import Any

import pytest

from kwokctl.clusters.scaling.objects.object_pattern import Pattern
from kwokctl.clusters.scaling.objects.render import Renderer
from kwokctl.clusters.scaling.scale_request import LABEL, ScaleRequest
from kwokctl.clusters.state.resource_templates import ResourceTemplate, load_templates
from kwokctl.expr import yaml
from kwokctl.fleet.uuids import uuid_for


class Clock:
    """A clock that never shows the same time twice."""

    def __init__(self) -> None:
        self.now = 1767268800.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


def rendered_with(template: str, parameters: Any = None, **request: Any) -> Renderer:
    made = ResourceTemplate(
        name="thing", parameters=parameters or {}, template=template, source="mine.yaml"
    )
    return Renderer(made, ScaleRequest(**{"kind": "thing", "serial_length": 2, **request}), Clock())


def thing(spec: str, **request: Any) -> Pattern | None:
    return rendered_with(f"{{apiVersion: v1, kind: T, spec: {spec}}}", **request).pattern()


def built_in(kind: str, **request: Any) -> tuple[Renderer, Pattern]:
    request = {"kind": kind, "replicas": 100_000, **request}
    made = Renderer(load_templates([])[kind], ScaleRequest(**request), lambda: 1767268800.0)
    pattern = made.pattern()
    assert pattern is not None
    return made, pattern


@pytest.mark.parametrize("kind", ["node", "pod"])
@pytest.mark.parametrize("serial", [0, 1, 255, 256, 70_000, 1_000_000])
def test_the_built_in_templates_have_a_pattern(kind: str, serial: int) -> None:
    made, pattern = built_in(kind)

    assert pattern.body_for(serial) == made.stamp(serial)


@pytest.mark.parametrize(
    ("kind", "params"),
    [
        ("node", (".podCIDRs = []", ".nodeIPs = []", ".capacity.gpu = 4")),
        ("node", ('.podCIDRs = ["10.0.0.0/24"]', ".nodeInfo.bootID = 1e3")),
        ("pod", ('.nodeName = "node-000000"', ".hostNetwork = true")),
        ("pod", (".containers[0].resources.requests.cpu = 0.1", ".initContainers = .containers")),
    ],
)
def test_parameters_change_the_pattern(kind: str, params: tuple[str, ...]) -> None:
    made, pattern = built_in(kind, params=params)

    assert pattern.body_for(9) == made.stamp(9)


PAGE = Path(__file__).parents[5] / "docs/how-to/scale-with-templates.md"


def of_the_page() -> Renderer:
    """Return the renderer of the page's own template."""
    text, *_ = re.findall(r"```yaml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    body = yaml.load(text)
    template = ResourceTemplate(
        name="gpu-node",
        parameters=body["parameters"],
        template=body["template"],
        source="gpu.yaml",
    )
    return Renderer(template, ScaleRequest(kind="gpu-node", replicas=60), Clock())


def test_the_template_of_the_page_gives_whole_nodes() -> None:
    made = of_the_page()
    pattern = made.pattern()
    assert pattern is not None

    node: Any = made.stamp(7)
    assert node == pattern.body_for(7)
    assert node["spec"] == {"podCIDR": "10.0.7.0/24", "podCIDRs": ["10.0.7.0/24"]}
    path = "/metrics/nodes/gpu-node-000007/metrics/resource"
    assert node["metadata"]["annotations"] == {"metrics.k8s.io/resource-metrics-path": path}


@pytest.mark.parametrize(
    ("written", "found"),
    [
        (
            "spec: {podCIDRs: ['10.{{ Index }}.0.0/16', 'fd00::/64']}",
            {"spec": {"podCIDR": "10.3.0.0/16", "podCIDRs": ["10.3.0.0/16", "fd00::/64"]}},
        ),
        (
            "spec: {podCIDR: 10.0.0.0/8, podCIDRs: [10.0.0.0/8, 'fd00::/64']}",
            {"spec": {"podCIDR": "10.0.0.0/8", "podCIDRs": ["10.0.0.0/8", "fd00::/64"]}},
        ),
        ("spec: {podCIDR: ''}", {"spec": {"podCIDR": ""}}),
        ("spec:", {"spec": None}),
        (
            "status: {capacity: {cpu: '{{ Index }}'}}",
            {"status": {"capacity": {"cpu": "3"}, "allocatable": {"cpu": "3"}}},
        ),
        (
            "status: {allocatable: {cpu: '1'}}",
            {"status": {"allocatable": {"cpu": "1"}}},
        ),
        ("status: {phase: Running}", {"status": {"phase": "Running"}}),
    ],
)
def test_nodes_are_completed_as_by_the_api_server(written: str, found: dict[str, Any]) -> None:
    made = rendered_with("apiVersion: v1\nkind: Node\n" + written, replicas=20)
    pattern = made.pattern()
    assert pattern is not None

    node: Any = made.stamp(3)
    assert {field: node[field] for field in found} == found
    assert pattern.body_for(3) == node


@pytest.mark.parametrize("given", ["/own", ""])
def test_the_path_of_metrics_that_a_template_gives_is_left_alone(given: str) -> None:
    annotations = {"metrics.k8s.io/resource-metrics-path": given}
    node: Any = rendered_with(
        f"{{apiVersion: v1, kind: Node, metadata: {{annotations: {annotations}}}}}"
    ).stamp(0)

    assert node["metadata"]["annotations"] == annotations


def test_only_nodes_are_completed() -> None:
    found: Any = rendered_with("{apiVersion: v1, kind: Pod, spec: {podCIDR: a}}").stamp(0)

    assert found["spec"] == {"podCIDR": "a"}
    assert "annotations" not in found["metadata"]


def test_a_node_differs_in_name_and_addresses() -> None:
    _, pattern = built_in("node")

    assert pattern.names == {
        ("metadata", "name"),
        ("metadata", "labels", "kubernetes.io/hostname"),
        ("status", "addresses", 2, "address"),
    }
    assert {path: value_of(7) for path, value_of in pattern.varying.items()} == {
        ("metadata", "annotations", "metrics.k8s.io/resource-metrics-path"): (
            "/metrics/nodes/node-000007/metrics/resource"
        ),
        ("spec", "podCIDR"): "10.0.3.128/25",
        ("spec", "podCIDRs", 0): "10.0.3.128/25",
        ("spec", "podCIDRs", 1): "fd00:0:0:7::/64",
        ("status", "addresses", 0, "address"): "198.18.0.8",
        ("status", "addresses", 1, "address"): "2001:db8::8",
        ("status", "nodeInfo", "bootID"): uuid_for("boot", "node-000007"),
        ("status", "nodeInfo", "machineID"): uuid_for("machine", "node-000007").replace("-", ""),
        ("status", "nodeInfo", "systemUUID"): uuid_for("system", "node-000007"),
    }
    assert pattern.slots["spec", "podCIDR"] is not pattern.slots["spec", "podCIDRs", 1]


def test_the_name_and_the_label_of_the_set_need_not_be_in_the_template() -> None:
    pattern = thing("{size: 1}")

    assert pattern is not None
    assert pattern.varying == {}
    assert pattern.body_for(3)["metadata"] == {"name": "thing-03", "labels": {LABEL: "thing"}}


def test_a_name_without_quotes_is_the_name() -> None:
    pattern = thing("{host: {{ Name }}}")

    assert pattern is not None
    assert pattern.names == {("metadata", "name"), ("spec", "host")}


def test_a_name_that_yaml_takes_for_a_number_is_not_the_name() -> None:
    pattern = thing("{host: {{ Name }}}", name="1.5", serial_length=0)

    assert pattern is not None
    assert pattern.names == {("metadata", "name")}
    assert pattern.body_for(0)["spec"] == {"host": 1.5}


def test_values_keep_their_types() -> None:
    pattern = thing("{index: {{ Index }}, text: {{ Quote Index }}, is_first: {{ eq Index 0 }}}")

    assert pattern is not None
    assert pattern.body_for(0)["spec"] == {"index": 0, "text": "0", "is_first": True}


@pytest.mark.parametrize(
    "spec",
    [
        "{a: {{ if Index }}1{{ else }}2{{ end }}}",
        "{a: {{ or Index 5 }}}",
        "{ {{ Quote Name }}: 1}",
        "{ {{ Name }}: 1}",
        "{a: {{ Quote uuidv4 }}}",
        "{a: {{ index (list 1 2) Index }}}",
        "{a: {{ fail `no` }}}",
        "{a: {{ Unknown }}}",
        '{{ $d := dict "k" "1" }}{a: {{ Quote (print $d Name) }}{{ $_ := set $d "k" "2" }}}',
    ],
)
def test_there_is_none_where_a_template_may_branch(spec: str) -> None:
    assert thing(spec, replicas=5) is None


def test_there_is_none_for_what_is_no_object() -> None:
    assert rendered_with("[{{ Name }}]").pattern() is None


def test_the_time_is_the_same_while_a_pattern_is_made() -> None:
    assert thing("{startTime: {{ Quote Now }}, name: {{ Quote Name }}}") is not None
