"""Replaces the real nodes that a fork has from its source by its own: kind makes each for one cluster.

What kubeadm has written about a cluster of kind's names its control plane; that is corrected, too.
"""

import base64
import re
from collections.abc import Mapping, Sequence
from functools import partial

import msgspec

from kwokctl.clusters.forking.kubelet_addresses import ForkedNode
from kwokctl.errors import ApiError
from kwokctl.json_value import Json
from kwokctl.kube.client import Client, PatchType
from kwokctl.kube.collections.paging import ListQuery, list_pages
from kwokctl.kube.resource import CONFIG_MAPS, DAEMON_SETS, NODES, PODS
from kwokctl.tasks import for_each

_MAKER = re.compile("kind://[^/]*/([^/]+)/.+")
"""The provider's id of a node that kind has created, with the name of its cluster
(kind, `pkg/cluster/internal/kubeadm/config.go`)."""
_NAMING = (
    (CONFIG_MAPS, "kube-system", "kubeadm-config"),
    (CONFIG_MAPS, "kube-system", "kube-proxy"),
    (CONFIG_MAPS, "kube-public", "cluster-info"),
    (DAEMON_SETS, "kube-system", "kindnet"),
)
"""Objects that name the control plane, as far as they exist."""
_AUTHORITY = re.compile(rb"(?<=certificate-authority-data: )[A-Za-z0-9+/=]+")
_REGISTERED = ("labels", "annotations")
_DELETIONS_TOGETHER = 32
_MISSING, _CONFLICT = 404, 409


def maker_of(node: ForkedNode) -> str:
    """Return the name of the cluster that kind has made a node for; empty for any other node."""
    found = _MAKER.fullmatch(str(node.spec.get("providerID") or ""))
    return found[1] if found else ""


async def forget(client: Client, name: str) -> None:
    """Delete a node of another cluster, and the pods on it: nothing will ever end them."""
    query = ListQuery(resource=PODS, field_selector=f"spec.nodeName={name}")
    async for page in list_pages(client.pool, query):
        await for_each(
            map(_path_of_pod, page.objects), partial(_delete, client), at_once=_DELETIONS_TOGETHER
        )
    await _delete(client, NODES.path(None, name))


def _path_of_pod(raw: msgspec.Raw) -> str:
    metadata: Mapping[str, str] = msgspec.json.decode(raw)["metadata"]
    return PODS.path(metadata["namespace"], metadata["name"])


async def register(client: Client, node: Mapping[str, Json]) -> None:
    """Create a node as it was registered, or give the one that its kubelet has registered the rest."""
    metadata = {key: node["metadata"][key] for key in _REGISTERED if key in node["metadata"]}
    name = node["metadata"]["name"]
    body = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {**metadata, "name": name},
        "spec": node["spec"],
    }
    try:
        await client.create(NODES, None, msgspec.json.encode(body))
    except ApiError as e:
        if e.status != _CONFLICT:
            raise
        # The kubelet was faster; labels, taints and networks are not all its own.
        path, change = NODES.path(None, name), msgspec.json.encode(body)
        await client.call("PATCH", path, change, content_type=PatchType.MERGE)
    status = msgspec.json.encode({"status": node["status"]})
    path = NODES.path(None, name, "status")
    await client.call("PATCH", path, status, content_type=PatchType.STRATEGIC)


async def rename(client: Client, former: Sequence[str], now: str, authority: bytes) -> None:
    """Rename the cluster in what kubeadm and kind have written about it, to `now`.

    `authority` is the certificate, PEM, that clients trust.
    """
    encoded = base64.b64encode(authority)
    for resource, namespace, name in _NAMING:
        try:
            text = await client.get_raw(resource, namespace, name)
        except ApiError as e:
            if e.status != _MISSING:
                raise
            continue
        wanted = _AUTHORITY.sub(encoded, renamed(text, former, now))
        if wanted != text:
            await client.update(resource, namespace, name, wanted)


def renamed(text: bytes, former: Sequence[str], now: str) -> bytes:
    """Replace names of clusters of kind's, also where those of their nodes begin with them."""
    if not former:
        return text
    names = "|".join(map(re.escape, former))
    pattern = rf"(?<![\w.-])(?:{names})(?=-control-plane\b|-worker|[^\w.-]|$)"
    return re.sub(pattern.encode(), now.encode(), text)


async def _delete(client: Client, path: str) -> None:
    """Delete an object at once, if it is there."""
    try:
        await client.call("DELETE", f"{path}?gracePeriodSeconds=0")
    except ApiError as e:
        if e.status != _MISSING:
            raise
