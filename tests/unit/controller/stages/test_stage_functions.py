""""""

from kwokctl import __version__
from kwokctl.controller.nodes.address_pool import PodIPs
from kwokctl.controller.nodes.node_registry import ManagedNode, NodeRegistry
from kwokctl.controller.stages import stage_functions
from kwokctl.controller.stages.stage_functions import Kubelet, common, for_nodes, for_pods

KUBELET = Kubelet(ip="192.0.2.9", name="localhost", port=10250)


def addresses() -> PodIPs:
    nodes = NodeRegistry()
    nodes.put(ManagedNode("n", "u", ("10.1.0.0/24", "fd00::/64"), ("192.0.2.1", "2001:db8::1")))
    nodes.put(ManagedNode("bare", "v", (), ()))
    return PodIPs(nodes, default_cidr="10.0.0.0/24", node_ip="192.0.2.9")


def test_the_names_that_stages_may_use_are_the_functions_there_are() -> None:
    shared = common(lambda: 0.0)

    assert set(for_nodes(shared, KUBELET)) == stage_functions.NAMES
    assert {*for_pods(shared, KUBELET, addresses()), "PodIP"} == stage_functions.POD_NAMES


def test_times_have_nanoseconds() -> None:
    moments = iter([1_767_268_800.0, 1_767_268_801.5])
    shared = common(lambda: next(moments))

    assert shared["Now"]() == "2026-01-01T12:00:01.500000000Z"
    assert shared["StartTime"]() == "2026-01-01T12:00:00.000000000Z"
    assert shared["Version"]() == __version__


def test_a_healthy_node_has_five_conditions() -> None:
    conditions = common(lambda: 0.0)["NodeConditions"]()

    assert [each["type"] for each in conditions if each["status"] == "True"] == ["Ready"]
    assert len(conditions) == 5


def test_node_functions_return_the_address_and_port_of_the_kubelet() -> None:
    made = for_nodes({}, KUBELET)

    assert (made["NodeIP"](), made["NodeName"](), made["NodePort"]()) == (
        "192.0.2.9",
        "localhost",
        10250,
    )


def test_pod_functions_return_the_same_addresses_each_time() -> None:
    made = for_pods({}, KUBELET, addresses())
    words = ("n", False, "uid", "p", "ns")

    assert made["PodIPsWith"](*words) == ["10.1.0.1", "fd00::1"]
    assert made["PodIPWith"](*words) == "10.1.0.1"
    assert made["PodIPsWith"]("n", True, "uid", "p", "ns") == ["192.0.2.1", "2001:db8::1"]
    assert made["NodeIPWith"]("n") == "192.0.2.1"


def test_objects_without_an_address_get_the_default() -> None:
    made = for_pods({}, KUBELET, addresses())

    assert made["NodeIPsWith"]("bare") == ["192.0.2.9"]
    assert made["NodeIPWith"]("unknown") == "192.0.2.9"
    assert made["PodIPWith"]("bare", False, "uid", "p", "ns") == "10.0.0.1"
