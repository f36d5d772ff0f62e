"""Which pods a node refuses, and which it evicts."""

from typing import Any

import pytest

from kwokctl.controller.lifecycle.admission.claims import ports_of
from kwokctl.controller.lifecycle.admission.refusal import NodeState, refusal_of
from kwokctl.controller.lifecycle.ends import Eviction
from kwokctl.controller.lifecycle.eviction import victim_of
from kwokctl.controller.lifecycle.outcome import NodeOffer
from tests.support.pod_lives import BEGIN, PLACE, Life, pod

NODE = NodeState(
    name="n",
    labels={"zone": "a", "size": "5"},
    allocatable={"cpu": 4000, "memory": 1000, "pods": 3},
)


def container(**requests: str) -> dict[str, Any]:
    return {"name": "main", "image": "x", "resources": {"requests": requests}}


def test_a_node_refuses_what_it_has_too_little_of() -> None:
    used = NodeState(allocatable=NODE.allocatable, used={"cpu": 3000, "pods": 1})

    assert refusal_of(pod(container(cpu="1")), used) is None
    assert refusal_of(pod(container(cpu="1001m", memory="2k")), used) == (
        "OutOfcpu",
        "Node didn't have enough resource: cpu, requested: 1001, used: 3000, capacity: 4000",
    )
    full = NodeState(allocatable=NODE.allocatable, used={"pods": 3})
    assert refusal_of(pod(), full) == (
        "OutOfpods",
        "Node didn't have enough resource: pods, requested: 1, used: 3, capacity: 3",
    )


def test_a_resource_that_the_node_does_not_have_is_not_counted() -> None:
    assert refusal_of(pod(container(**{"example.com/gpu": "1"})), NODE) is None


@pytest.mark.parametrize(
    ("operator", "values", "fits"),
    [
        ("In", ["a", "b"], True), ("NotIn", ["a"], False), ("Exists", [], True),
        ("DoesNotExist", [], False), ("Gt", ["4"], False), ("Like", [], False),
    ],
)  # fmt: skip
def test_a_pod_that_is_for_other_nodes_is_refused(
    operator: str, values: list[str], fits: bool
) -> None:
    term = {"matchExpressions": [{"key": "zone", "operator": operator, "values": values}]}
    required = {"nodeSelectorTerms": [term]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    refusal = refusal_of(pod(affinity=affinity), NODE)

    assert (refusal is None) == fits
    assert fits or refusal == (
        "NodeAffinity",
        "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    )


def test_numbers_and_names_of_nodes_are_compared() -> None:
    larger = {"key": "size", "operator": "Gt", "values": ["4"]}
    named = {"key": "metadata.name", "operator": "In", "values": ["n"]}
    terms = [{"matchExpressions": [larger], "matchFields": [named]}]
    required = {"nodeSelectorTerms": terms}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}

    assert refusal_of(pod(affinity=affinity), NODE) is None
    assert refusal_of(pod(nodeSelector={"size": "6"}), NODE) is not None


def exposing(port: int, **more: str) -> dict[str, Any]:
    return {"name": "main", "image": "x", "ports": [{"containerPort": 1, "hostPort": port, **more}]}


@pytest.mark.parametrize(
    ("taken", "wanted", "fits"),
    [
        ({}, {}, False),
        ({}, {"protocol": "UDP"}, True),
        ({}, {"hostIP": "10.0.0.1"}, False),
        ({"hostIP": "10.0.0.1"}, {}, False),
        ({"hostIP": "10.0.0.1"}, {"hostIP": "10.0.0.2"}, True),
        ({"hostIP": "10.0.0.1"}, {"hostIP": "10.0.0.1"}, False),
    ],
)
def test_a_port_of_the_node_is_for_one_pod(
    taken: dict[str, str], wanted: dict[str, str], fits: bool
) -> None:
    node = NodeState(ports=ports_of(pod(exposing(80, **taken))["spec"]))
    refusal = refusal_of(pod(exposing(80, **wanted)), node)

    assert (refusal is None) == fits
    assert refusal_of(pod(exposing(81)), node) is None
    assert fits or refusal == (
        "NodePorts",
        "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
    )


def test_sidecars_take_ports_and_other_init_containers_do_not() -> None:
    init = [{**exposing(1), "restartPolicy": "Always"}, exposing(2)]

    assert [each.port for each in ports_of(pod(init=init)["spec"])] == [1]


def test_a_pod_for_another_system_is_refused() -> None:
    windows = NodeState(operating_system="windows")
    own = pod(os={"name": "windows"})
    labelled = pod()
    labelled["metadata"]["labels"] = {"kubernetes.io/os": "windows"}

    assert refusal_of(own, windows) is None
    assert refusal_of(labelled, windows) is None
    assert refusal_of(own, NODE) == (
        "PodOSNotSupported",
        "Failed to admit pod as the OS field doesn't match node OS",
    )
    assert refusal_of(labelled, NODE) == (
        "PodOSSelectorNodeLabelDoesNotMatch",
        "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
    )


@pytest.mark.parametrize(
    ("toleration", "fits"),
    [
        ({"operator": "Exists"}, True),
        ({"key": "a", "operator": "Exists", "effect": "NoExecute"}, True),
        ({"key": "a", "value": "1"}, True),
        ({"key": "a", "value": "2"}, False),
        ({"key": "a", "operator": "Exists", "effect": "NoSchedule"}, False),
        ({"key": "b", "operator": "Exists"}, False),
    ],
)
def test_a_taint_that_drives_pods_out_has_to_be_tolerated(
    toleration: dict[str, str], fits: bool
) -> None:
    refusal = refusal_of(pod(tolerations=[toleration]), NodeState(taints=(("a", "1"),)))

    assert (refusal is None) == fits
    assert fits or refusal == (
        "TaintToleration",
        "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
    )


def test_a_node_under_memory_pressure_takes_what_requests_something() -> None:
    pressed = NodeState(pressures=("MemoryPressure",))
    toleration = {"key": "node.kubernetes.io/memory-pressure", "operator": "Exists"}

    assert refusal_of(pod(), pressed) == ("Evicted", "The node had condition: [MemoryPressure]. ")
    assert refusal_of(pod(container(cpu="1")), pressed) is None
    assert refusal_of(pod(tolerations=[toleration]), pressed) is None
    assert refusal_of(pod(priority=2_000_000_000), pressed) is None
    assert refusal_of(pod(container(cpu="1")), NodeState(pressures=("DiskPressure",))) is not None


def using(memory: str, request: str = "0", priority: int = 0, name: str = "p") -> Any:
    annotations = {"kwok.x-k8s.io/usage-memory": memory}
    body = pod(container(memory=request), annotations=annotations, priority=priority)
    body["metadata"]["name"] = name
    return body


def test_those_above_their_requests_are_evicted_first_then_by_priority_and_usage() -> None:
    within = using("10Mi", "20Mi", -1, "within")
    important = using("90Mi", "20Mi", 7, "important")
    small, large = using("30Mi", "20Mi", 0, "small"), using("150%", "20Mi", 0, "large")
    critical = using("9Gi", "0", 2_000_000_000, "critical")
    left, order = [within, important, small, large, critical], []
    while found := victim_of(left, ["MemoryPressure"]):
        order.append(found[0]["metadata"]["name"])
        left.remove(found[0])

    assert sorted(order[:2]) == ["large", "small"]
    assert order[2:] == ["important", "within"]


def test_the_message_names_what_uses_more_than_it_requests() -> None:
    found = victim_of([using("30Mi", "20Mi")], ["MemoryPressure"])

    assert found is not None
    assert found[1] == (
        "The node was low on resource: memory. Container main was using 30Mi, request is 20Mi, "
        "has larger consumption of memory. "
    )


def test_an_evicted_pod_fails_once_its_containers_have_ended() -> None:
    life = Life(pod(annotations={"kwokctl.dev/program": "stop=1h"})).run(10)
    eviction = Eviction(at=BEGIN + 10, message="low. ")
    life.place = NodeOffer(host_ips=PLACE.host_ips, pod_ips=PLACE.pod_ips, eviction=eviction)
    life.run(0.5)
    assert life.status["phase"] == "Running"
    assert life.condition("Ready")["status"] == "True"

    life.run(3)
    assert (life.status["phase"], life.status["reason"]) == ("Failed", "Evicted")
    assert life.condition("DisruptionTarget")["reason"] == "TerminationByKubelet"
    assert life.container()["state"]["terminated"]["exitCode"] == 137
    assert life.reasons().count("Evicted") == 1


def test_an_evicted_pod_whose_containers_end_in_time_has_succeeded() -> None:
    life = Life(pod()).run(10)
    eviction = Eviction(at=BEGIN + 10, message="low. ")
    life.place = NodeOffer(host_ips=PLACE.host_ips, pod_ips=PLACE.pod_ips, eviction=eviction)
    life.run(3)

    assert (life.status["phase"], life.status.get("reason")) == ("Succeeded", None)
    assert life.condition("DisruptionTarget")["message"] == "low. "
    assert life.reasons().count("Evicted") == 1
