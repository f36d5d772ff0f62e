from ipaddress import ip_address, ip_network
from typing import Any

import pytest

from kwokctl.clusters.scaling.objects.render import Renderer, edited
from kwokctl.clusters.scaling.scale_request import LABEL, ScaleRequest
from kwokctl.clusters.state.resource_templates import ResourceTemplate, load_templates
from kwokctl.controller.stages.stage_functions import Kubelet
from kwokctl.errors import ConfigError, UsageError

USUAL = {
    "cpu": "32",
    "ephemeral-storage": "512Gi",
    "hugepages-1Gi": "0",
    "hugepages-2Mi": "0",
    "memory": "256Gi",
    "pods": "110",
}
"""What the built-in template gives a node, as a kubelet reports it."""


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
        (".a = [range(1e12)]", "it takes more than 100,000 steps"),
        ('reduce range(99) as $i ("a"; . + .)', "it takes more than 100,000 steps"),
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
    assert status["allocatable"] == USUAL
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
    assert renderer(counting % "Position", net).stamp(3)["spec"]["podCIDR"] == "10.9.3.0/24"
    node = Renderer(load_templates([])["node"], ScaleRequest(kind="node"), noon)
    assert node.starts() == {"10.0.0.0/25", "fd00::/64", "198.18.0.1", "2001:db8::1"}


def test_the_built_in_starts_hold_a_hundred_thousand_nodes_in_private_networks() -> None:
    last = built_in("node", 100_000 - 1)

    assert all(ip_network(cidr).is_private for cidr in last["spec"]["podCIDRs"])
    addresses = [each["address"] for each in last["status"]["addresses"]]
    assert all(ip_address(each).is_private for each in addresses[:2])


def test_a_node_has_the_address_of_its_kubelet_from_the_start() -> None:
    template, request = load_templates([])["node"], ScaleRequest(kind="node")
    kubelet = Kubelet(address="127.0.0.1", port=32000)

    status = Renderer(template, request, lambda: 0.0, kubelet).stamp(0)["status"]

    assert status["daemonEndpoints"] == {"kubeletEndpoint": {"Port": 32000}}
    assert {"type": "kwokctl.dev/Kubelet", "address": "127.0.0.1"} in status["addresses"]


def test_a_node_takes_capacity_where_it_is_given() -> None:
    status = built_in(
        "node",
        params=('.capacity = {"cpu": 64, "nvidia.com/gpu": 8}', '.allocatable["x/y"] = "1"'),
    )["status"]

    assert status["allocatable"] == {**USUAL, "x/y": "1"}
    assert status["capacity"] == {
        **USUAL,
        "cpu": "64",
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
