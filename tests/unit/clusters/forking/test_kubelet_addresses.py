"""Fake nodes of a fork have its kubelet server; those of other servers, and addresses of their own, stay."""

import json

import pytest

from kwokctl.clusters.forking.kubelet_addresses import ForkedNode, KubeletPlace, Move
from kwokctl.components.fake_nodes import KUBELET_ADDRESS
from kwokctl.dataplane.api_plane import ApiPlane
from kwokctl.dataplane.etcd_keys import Keys
from kwokctl.dataplane.etcd_plane import EtcdPlane, EtcdRoute
from kwokctl.dataplane.object_store import ObjectStore
from kwokctl.dataplane.port import ObjectKey, Patch
from kwokctl.json_value import Json
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.pool import Pool
from tests.support.memory_etcd import MemoryEtcd

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
    return ForkedNode({"metadata": {"name": "n"}, "status": status})


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


class Api(ApiPlane):
    """Notes what comes through the API."""

    def __init__(self) -> None:
        super().__init__(Pool(Access(server="http://127.0.0.1:1")))
        self.asked: list[tuple[str, Json]] = []

    async def patch(self, target: ObjectKey, patch: Patch, *, current: Json = None) -> Json:
        self.asked.append((target.name, patch.document))
        return {"metadata": {"resourceVersion": "9"}}


async def test_nodes_are_moved_in_etcd_and_by_the_api_where_another_client_has_written() -> None:
    etcd, api = MemoryEtcd(), Api()
    route = EtcdRoute(address="", store=ObjectStore(etcd), keys=Keys("/registry"))
    plane = EtcdPlane(api, route, lambda: 0.0)
    nodes = [_stored(etcd, name) for name in ("a", "b")]
    etcd.put(b"/registry/minions/b", b'{"of":"another client"}')

    await Move(former=SOURCE, now=WITHOUT_CONTROLLER).of(plane, nodes)

    moved = json.loads(etcd.stored[b"/registry/minions/a"].value)
    assert moved["status"]["daemonEndpoints"] == _port(1002)
    assert moved["status"]["addresses"] == nodes[0].status["addresses"]
    assert api.asked == [("b", {"status": {"daemonEndpoints": _port(1002)}})]


def _stored(etcd: MemoryEtcd, name: str) -> ForkedNode:
    node = _node(1001)
    node.document["metadata"] = {"name": name, "uid": name}
    revision = etcd.put(f"/registry/minions/{name}".encode(), json.dumps(node.whole).encode())
    node.document["metadata"]["resourceVersion"] = str(revision)
    return node
