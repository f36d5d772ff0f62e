from ipaddress import ip_address, ip_network
from typing import Any

import pytest

from kwokctl.clusters.scaling.render import Pattern, Renderer, edited
from kwokctl.clusters.scaling.request import LABEL, ScaleRequest
from kwokctl.clusters.scaling.templates import ResourceTemplate, load_templates
from kwokctl.controller.stages.functions import Kubelet
from kwokctl.controller.stages.identifiers import uuid_for
from kwokctl.errors import ConfigError, UsageError


def noon() -> float:
    return 1767268800.0


def renderer(template: str, parameters: Any = None, **request: Any) -> Renderer:
    made = ResourceTemplate(
        name="thing", parameters=parameters, template=template, source="mine.yaml, document 1"
    )
    return Renderer(made, ScaleRequest(**{"kind": "thing", "serial_length": 2, **request}), noon)


def built_in(kind: str, serial: int = 0, **request: Any) -> dict[str, Any]:
    return Renderer(load_templates([])[kind], ScaleRequest(kind=kind, **request), noon).stamp(
        serial
    )


def test_templates_have_functions_for_what_differs_between_objects() -> None:
    body = renderer(
        """\
apiVersion: v1
kind: Thing
metadata:
  name: {{ Quote Name }}
  namespace: {{ Quote Namespace }}
spec:
  index: {{ Index }}
  cidr: {{ AddCIDR .cidr Index }}
  ip: {{ AddIP .ip 1 }}
  doubled: {{ add Index Index }}
""",
        {"cidr": "10.1.0.0/24", "ip": "10.0.0.1"},
        namespace="load",
    ).stamp(3)

    assert body == {
        "apiVersion": "v1",
        "kind": "Thing",
        "metadata": {"name": "thing-03", "namespace": "load", "labels": {LABEL: "thing"}},
        "spec": {"index": 3, "cidr": "10.1.3.0/24", "ip": "10.0.0.2", "doubled": 6},
    }


def test_labels_of_the_template_stay() -> None:
    body = renderer("{apiVersion: v1, kind: T, metadata: {labels: {a: b}}}").stamp(0)

    assert body["metadata"] == {"name": "thing-00", "labels": {"a": "b", LABEL: "thing"}}


def test_copies_share_nothing() -> None:
    made = renderer("{apiVersion: v1, kind: T, metadata: {annotations: {a: b}}}")
    made.stamp(0)["metadata"]["annotations"]["a"] = "changed"

    assert made.stamp(1)["metadata"]["annotations"] == {"a": "b"}


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{{ if }}", "template 'thing'"),
        ("[1, 2]", "gives no object"),
        ("{kind: T}", "gives an object without 'apiVersion'"),
        ("{apiVersion: v1}", "gives an object without 'kind'"),
        ("{apiVersion: v1, kind: [T]}", "gives an object without 'kind'"),
        ("{apiVersion: v1, kind: T, metadata: x}", "'metadata' or 'labels' is not a mapping"),
        (
            "{apiVersion: v1, kind: T, metadata: {labels: x}}",
            "'metadata' or 'labels' is not a mapping",
        ),
        (
            "{apiVersion: v1, kind: T, metadata: {name: mine}}",
            "names the object 'mine' instead of 'thing-00'",
        ),
        ("{{ AddIP .ip Index }}", "AddIP: 'nowhere' is not an address"),
    ],
)
def test_a_template_that_gives_no_object_names_itself(template: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        renderer(template, {"ip": "nowhere"}).stamp(0)

    assert str(caught.value).startswith("mine.yaml, document 1")
    assert "template 'thing'" in str(caught.value)
    assert message in str(caught.value)


def test_parameters_are_edited_one_program_after_the_other() -> None:
    parameters = {"a": 1, "b": {"c": 2}}

    assert edited(parameters, (".a = 5", ".b.c = .a")) == {"a": 5, "b": {"c": 5}}
    assert parameters == {"a": 1, "b": {"c": 2}}


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (".a, .a", "gives 2 results instead of one"),
        ("empty", "gives 0 results instead of one"),
        (".a |", "not a jq program"),
        (".a.b.c", "jq '.a.b.c'"),
    ],
)
def test_a_parameter_that_cannot_be_edited_so_is_named(program: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        edited({"a": 1}, (program,))

    assert str(caught.value).startswith("--param")
    assert program in str(caught.value)
    assert message in str(caught.value)
    assert caught.value.hint is not None


def test_a_built_in_node_is_complete() -> None:
    body = built_in("node", 300)

    assert body["metadata"] == {
        "name": "node-000300",
        "annotations": {
            "kwok.x-k8s.io/node": "fake",
            "metrics.k8s.io/resource-metrics-path": "/metrics/nodes/node-000300/metrics/resource",
            "node.alpha.kubernetes.io/ttl": "0",
        },
        "labels": {
            "beta.kubernetes.io/arch": "amd64",
            "beta.kubernetes.io/os": "linux",
            "kubernetes.io/arch": "amd64",
            "kubernetes.io/hostname": "node-000300",
            "kubernetes.io/os": "linux",
            "kubernetes.io/role": "agent",
            "node-role.kubernetes.io/agent": "",
            "type": "kwok",
            LABEL: "node",
        },
    }
    assert body["spec"] == {
        "podCIDR": "10.0.150.0/25",
        "podCIDRs": ["10.0.150.0/25", "fd00:0:0:12c::/64"],
    }
    status = body["status"]
    assert status["allocatable"] == {"cpu": "32", "memory": "256Gi", "pods": "110"}
    assert status["capacity"] == status["allocatable"]
    assert status["addresses"] == [
        {"type": "InternalIP", "address": "198.18.1.45"},
        {"type": "InternalIP", "address": "2001:db8::12d"},
        {"type": "Hostname", "address": "node-000300"},
    ]
    assert not {"phase", "conditions"} & status.keys()
    assert status["daemonEndpoints"] == {"kubeletEndpoint": {"Port": 10250}}
    info = status["nodeInfo"]
    assert (info["architecture"], info["operatingSystem"]) == ("amd64", "linux")
    assert info["kubeletVersion"].startswith("kwok-")
    assert info["osImage"].startswith("Linux (kwok-")
    assert all(info.values())
    identifiers = {
        info["bootID"],
        info["systemUUID"],
        built_in("node", 301)["status"]["nodeInfo"]["bootID"],
    }
    assert len(identifiers) == 3


def test_what_objects_count_on_from_is_known_if_it_is_by_their_position() -> None:
    counting = "apiVersion: v1\nkind: Node\nspec: {podCIDR: '{{ AddCIDR .net %s }}'}\n"
    net = {"net": "10.9.0.0/24"}

    assert renderer(counting % "Position", net).starts() == {"10.9.0.0/24"}
    assert renderer(counting % "Index", net).starts() == set()
    assert renderer(counting % "Position", net).stamp(3)["spec"] == {"podCIDR": "10.9.3.0/24"}
    node = Renderer(load_templates([])["node"], ScaleRequest(kind="node"), noon)
    assert node.starts() == {"10.0.0.0/25", "fd00::/64", "198.18.0.1", "2001:db8::1"}


def test_the_built_in_starts_hold_a_hundred_thousand_nodes_in_private_networks() -> None:
    last = built_in("node", 100_000 - 1)

    assert all(ip_network(cidr).is_private for cidr in last["spec"]["podCIDRs"])
    addresses = [each["address"] for each in last["status"]["addresses"]]
    assert all(ip_address(each).is_private for each in addresses[:2])


def test_a_node_has_the_address_of_its_kubelet_from_the_start() -> None:
    template, request = load_templates([])["node"], ScaleRequest(kind="node")
    kubelet = Kubelet(ip="127.0.0.1", name="localhost", port=32000)

    status = Renderer(template, request, lambda: 0.0, kubelet).stamp(0)["status"]

    assert status["daemonEndpoints"] == {"kubeletEndpoint": {"Port": 32000}}
    assert {"type": "InternalDNS", "address": "localhost"} in status["addresses"]


def test_a_node_takes_capacity_where_it_is_given() -> None:
    status = built_in(
        "node",
        params=('.capacity = {"cpu": 64, "nvidia.com/gpu": 8}', '.allocatable["x/y"] = "1"'),
    )["status"]

    assert status["allocatable"] == {"cpu": "32", "memory": "256Gi", "pods": "110", "x/y": "1"}
    assert status["capacity"] == {
        "cpu": "64",
        "memory": "256Gi",
        "pods": "110",
        "nvidia.com/gpu": "8",
        "x/y": "1",
    }


def test_a_node_takes_its_info_where_it_is_given() -> None:
    body = built_in(
        "node",
        params=('.nodeInfo.architecture = "arm64"', '.nodeInfo.osImage = "Fake Linux"'),
    )

    assert body["metadata"]["labels"]["kubernetes.io/arch"] == "arm64"
    assert body["status"]["nodeInfo"]["architecture"] == "arm64"
    assert body["status"]["nodeInfo"]["osImage"] == "Fake Linux"


def test_a_node_may_do_without_networks_and_addresses() -> None:
    body = built_in("node", params=(".podCIDRs = []", ".nodeIPs = []"))

    assert not body["spec"]
    assert body["status"]["addresses"] == [{"type": "Hostname", "address": "node-000000"}]


def test_a_built_in_pod_is_for_the_scheduler() -> None:
    assert built_in("pod", 1, namespace="load") == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "pod-000001", "namespace": "load", "labels": {LABEL: "pod"}},
        "spec": {"containers": [{"name": "container-0", "image": "busybox"}]},
    }


def test_a_pod_takes_its_parameters() -> None:
    spec = built_in(
        "pod",
        params=(
            '.nodeName = "node-000000"',
            ".hostNetwork = true",
            '.initContainers = [{"name": "init", "image": "i"}]',
            '.containers[0].resources = {"requests": {"cpu": "100m"}}',
            '.containers += [{"name": "b", "image": "c"}]',
            '.containers[1].resources = {"requests": {"cpu": 1}, "limits": {"cpu": 2}}',
        ),
    )["spec"]

    assert spec == {
        "nodeName": "node-000000",
        "hostNetwork": True,
        "initContainers": [{"name": "init", "image": "i"}],
        "containers": [
            {
                "name": "container-0",
                "image": "busybox",
                "resources": {"requests": {"cpu": "100m"}, "limits": {"cpu": "100m"}},
            },
            {
                "name": "b",
                "image": "c",
                "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}},
            },
        ],
    }


@pytest.mark.parametrize("program", ["[range(1e9)]", "last(range(1e12))"])
def test_a_parameter_that_takes_more_than_its_share_is_stopped(program: str) -> None:
    with pytest.raises(UsageError, match="takes more than"):
        edited({"a": 1}, (program,))

    assert edited({"a": 1}, (".b = 2",)) == {"a": 1, "b": 2}


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


def pattern_built_in(kind: str, **request: Any) -> tuple[Renderer, Pattern]:
    request = {"kind": kind, "replicas": 100_000, **request}
    made = Renderer(load_templates([])[kind], ScaleRequest(**request), lambda: 1767268800.0)
    pattern = made.pattern()
    assert pattern is not None
    return made, pattern


@pytest.mark.parametrize("kind", ["node", "pod"])
@pytest.mark.parametrize("serial", [0, 1, 255, 256, 70_000, 1_000_000])
def test_the_built_in_templates_have_a_pattern(kind: str, serial: int) -> None:
    made, pattern = pattern_built_in(kind)

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
    made, pattern = pattern_built_in(kind, params=params)

    assert pattern.body_for(9) == made.stamp(9)


def test_a_node_differs_in_name_and_addresses() -> None:
    _, pattern = pattern_built_in("node")

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
