"""The real nodes of a source are replaced by those of the fork, and names of the one by the other's."""

import base64
import json
from typing import Any

import pytest

from kwokctl.clusters.forking.kubelet_addresses import ForkedNode
from kwokctl.clusters.forking.real_nodes import forget, maker_of, register, rename, renamed
from tests.support.object_server import object_server

PODS = "/api/v1/namespaces/kube-system/pods"
NODES = "/api/v1/nodes"
SYSTEM, PUBLIC = (f"/api/v1/namespaces/kube-{name}/configmaps" for name in ("system", "public"))


@pytest.mark.parametrize(
    ("provider", "made_for"),
    [
        ("kind://docker/kwok-a/kwok-a-control-plane", "kwok-a"),
        ("kind://podman/kwok-a/kwok-a-worker2", "kwok-a"),
        ("kwok://node-000001", ""),
        ("", ""),
        (None, ""),
    ],
)
def test_a_real_node_is_known_by_who_provides_it(provider: str | None, made_for: str) -> None:
    assert (
        maker_of(ForkedNode({"metadata": {"name": "n"}, "spec": {"providerID": provider}}))
        == made_for
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("https://kwok-a-control-plane:6443", "https://kwok-b-control-plane:6443"),
        ("clusterName: kwok-a\n", "clusterName: kwok-b\n"),
        ("kwok-a-worker2", "kwok-b-worker2"),
        ("kwok-a", "kwok-b"),
        ("kwok-a-2-control-plane", "kwok-a-2-control-plane"),
        ("my-kwok-a kwok-ab kwok-a.b", "my-kwok-a kwok-ab kwok-a.b"),
    ],
)
def test_only_whole_names_of_clusters_are_replaced(before: str, after: str) -> None:
    assert renamed(before.encode(), ["kwok-a"], "kwok-b") == after.encode()


async def test_a_node_goes_with_the_pods_on_it() -> None:
    async with object_server() as (server, client):
        server.put(NODES, "old")
        server.put(PODS, "etcd-old")

        await forget(client, "old")
        await forget(client, "old")

        assert server.objects == {}
        asked = [each for each in server.requests if each.path.endswith("/pods")]
        assert asked[0].query["fieldSelector"] == "spec.nodeName=old"
        deletions = [each for each in server.requests if each.method == "DELETE"]
        assert {each.query["gracePeriodSeconds"] for each in deletions} == {"0"}


async def test_a_node_is_registered_as_it_was_and_may_be_there_already() -> None:
    node: dict[str, Any] = {
        "metadata": {"name": "new", "uid": "u", "labels": {"a": "b"}, "resourceVersion": "3"},
        "spec": {"taints": []},
        "status": {"phase": "x"},
    }
    async with object_server() as (server, client):
        await register(client, node)
        await register(client, node)

        found = server.get(NODES, "new")
        assert (found["metadata"]["labels"], found["spec"]) == ({"a": "b"}, {"taints": []})
        assert found["metadata"]["uid"] != "u"
        assert json.loads(server.requests[-1].body) == {"status": {"phase": "x"}}


async def test_what_kubeadm_has_written_names_the_fork_and_its_authority() -> None:
    async with object_server() as (server, client):
        server.put(SYSTEM, "kubeadm-config", data={"c": "clusterName: kwok-a\n"})
        server.put(PUBLIC, "cluster-info", data={"k": _kubeconfig("a", b"old")})

        await rename(client, ["kwok-a"], "kwok-b", b"new")

        assert server.get(SYSTEM, "kubeadm-config")["data"] == {"c": "clusterName: kwok-b\n"}
        assert server.get(PUBLIC, "cluster-info")["data"] == {"k": _kubeconfig("b", b"new")}


async def test_what_already_names_the_fork_is_not_written() -> None:
    async with object_server() as (server, client):
        server.put(SYSTEM, "kubeadm-config", data={"c": "clusterName: kwok-b\n"})

        await rename(client, [], "kwok-b", b"new")

        assert {each.method for each in server.requests} == {"GET"}


def _kubeconfig(cluster: str, authority: bytes) -> str:
    trusted = base64.b64encode(authority).decode()
    server = f"https://kwok-{cluster}-control-plane:6443"
    return f"certificate-authority-data: {trusted}\n    server: {server}\n"
