"""Requests through the API server's node proxy to the kubelet server."""

from tests.support.installed import Installed, until

_NAME = "reached"


def answer_of_node_proxy(cluster: Installed) -> str:
    """Return what the kubelet server answers to `/healthz` by way of a node that is made for that."""
    metadata = {"name": _NAME, "annotations": {"kwok.x-k8s.io/node": "fake"}}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": metadata}
    cluster.create(node)

    def has_address() -> bool:
        found = cluster.found("node", _NAME)
        return bool(found["status"].get("addresses"))

    until("the node has an address", has_address)
    said = cluster.kubectl("get", "--raw", f"/api/v1/nodes/{_NAME}/proxy/healthz")
    cluster.delete("node", _NAME)
    return said
