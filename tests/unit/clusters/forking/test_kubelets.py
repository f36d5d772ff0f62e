"""Fake nodes of a fork have its kubelet server; those of other servers, and addresses of their own, stay."""

import pytest

from kwokctl.clusters.forking.kubelets import ForkedNode, KubeletPlace, Move
from kwokctl.components.fake_nodes import KUBELET_ADDRESS
from kwokctl.json_value import Json

SOURCE = KubeletPlace(
    port=1001, addresses={KUBELET_ADDRESS: "localhost", "InternalIP": "198.19.255.254"}
)
FORK = KubeletPlace(
    port=1002, addresses={KUBELET_ADDRESS: "host.example", "InternalIP": "172.20.0.1"}
)
WITHOUT_CONTROLLER = KubeletPlace(port=1002, addresses={})


def _node(port: int, internal: str = "198.19.255.254") -> ForkedNode:
    status: dict[str, Json] = {"addresses": _addresses("localhost", internal)}
    if port:
        status["daemonEndpoints"] = {"kubeletEndpoint": {"Port": port}}
    return ForkedNode(metadata={"name": "n"}, status=status)


def _addresses(kubelet: str, internal: str) -> list[Json]:
    return [
        {"type": KUBELET_ADDRESS, "address": kubelet},
        {"type": "InternalIP", "address": internal},
    ]


def _port(number: int) -> Json:
    return {"kubeletEndpoint": {"Port": number}}


def test_a_node_of_the_source_has_the_port_and_the_addresses_of_the_fork() -> None:
    assert Move(former=SOURCE, now=FORK).change_of(_node(1001)) == {
        "daemonEndpoints": _port(1002),
        "addresses": _addresses("host.example", "172.20.0.1"),
    }


def test_an_address_that_is_the_node_s_own_stays() -> None:
    changed = Move(former=SOURCE, now=FORK).change_of(_node(1001, internal="10.0.0.7"))

    assert changed["addresses"] == _addresses("host.example", "10.0.0.7")


def test_of_an_unknown_source_every_kubelet_moves_and_no_internal_address() -> None:
    assert Move(former=None, now=FORK).change_of(_node(4)) == {
        "daemonEndpoints": _port(1002),
        "addresses": _addresses("host.example", "198.19.255.254"),
    }


def test_without_a_controller_only_the_port_is_changed() -> None:
    move = Move(former=SOURCE, now=WITHOUT_CONTROLLER)

    assert move.change_of(_node(1001)) == {"daemonEndpoints": _port(1002)}


@pytest.mark.parametrize("port", [0, 10250])
def test_a_node_of_another_server_stays(port: int) -> None:
    assert Move(former=SOURCE, now=FORK).change_of(_node(port)) == {}
