"""Gives the fake nodes of a fork the kubelet server of the fork, in place of the source's."""

from collections.abc import Iterator, Mapping
from functools import partial

import msgspec

from kwokctl.components.fake_nodes import KUBELET_ADDRESS
from kwokctl.components.setting import Setting
from kwokctl.dataplane.port import DataPlane, ObjectKey, Patch
from kwokctl.errors import ConfigError, EtcdConflictError
from kwokctl.host.paths import ClusterPaths
from kwokctl.host.processes.launches import Launches
from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType
from kwokctl.kube.resource import NODES
from kwokctl.kube.stored_json import ObjectInJson
from kwokctl.model import KWOK_CONTROLLER, KWOK_KUBELET
from kwokctl.tasks import for_each

_INTERNAL = "InternalIP"
_FLAGS = {KUBELET_ADDRESS: "--kubelet-address=", _INTERNAL: "--node-ip="}
"""By type of a node's address: the argument of the controller with the one that nodes get."""
_WRITES_TOGETHER = 128


class ForkedNode(msgspec.Struct, frozen=True):
    """A node."""

    document: ObjectInJson
    """As a list of the API server has it, with the fields of its release, so that a write keeps them."""

    @property
    def name(self) -> str:
        """The name of the node."""
        return self.document["metadata"]["name"]

    @property
    def spec(self) -> dict[str, Json]:
        """The spec of the node."""
        return self.document.get("spec") or {}

    @property
    def status(self) -> dict[str, Json]:
        """The status that the kubelet gives the node."""
        return self.document.get("status") or {}

    @property
    def whole(self) -> ObjectInJson:
        """The node as the API server gives it by itself."""
        return {"apiVersion": NODES.api_version, "kind": NODES.kind, **self.document}


class KubeletPlace(msgspec.Struct, frozen=True, kw_only=True):
    """The address of the kubelet of a cluster's fake nodes."""

    port: int
    addresses: Mapping[str, str]
    """By the types that nodes have them under."""


def server_of(setting: Setting) -> KubeletPlace | None:
    """Return the kubelet server of a cluster that has one, as it was given to its controller.

    A runtime may know an address only once there is a network, so this is what it has written.
    """
    if KWOK_KUBELET not in setting.artifacts:
        return None
    words = _words(setting.paths)
    found = {
        kind: word.removeprefix(flag)
        for kind, flag in _FLAGS.items()
        for word in words
        if word.startswith(flag)
    }
    return KubeletPlace(port=setting.options.component(KWOK_KUBELET).port, addresses=found)


def _words(paths: ClusterPaths) -> list[str]:
    try:
        return Launches(paths).read(KWOK_CONTROLLER).argv
    except ConfigError:  # a cluster without controller
        return []


class Move(msgspec.Struct, frozen=True, kw_only=True):
    """From where to where kubelets move."""

    former: KubeletPlace | None
    """None for any."""
    now: KubeletPlace

    async def of(self, plane: DataPlane, nodes: list[ForkedNode]) -> None:
        """Give each node of a page the address of the present kubelet server, if it had that of the source's."""
        changes = [(node, status) for node in nodes if (status := self.change_of(node))]
        await for_each(changes, partial(_patch, plane), at_once=_WRITES_TOGETHER)

    def change_of(self, node: ForkedNode) -> dict[str, Json]:
        """Return what of the status of a node is to change; nothing for one of another server."""
        port = _port(node)
        if port == 0 or (self.former and port != self.former.port):
            return {}
        addresses = [*self._addresses(node)]
        changed: dict[str, Json] = {}
        if port != self.now.port:
            changed["daemonEndpoints"] = {"kubeletEndpoint": {"Port": self.now.port}}
        if addresses != (node.status.get("addresses") or []):
            changed["addresses"] = addresses
        return changed

    def _addresses(self, node: ForkedNode) -> Iterator[dict[str, Json]]:
        for each in node.status.get("addresses") or ():
            now = self.now.addresses.get(each["type"], "")
            yield {**each, "address": now} if now and self._is_former(each) else each

    def _is_former(self, address: Mapping[str, str]) -> bool:
        """Return whether an address is one of the source's kubelet server, and not the node's own."""
        if self.former is None:
            return address["type"] == KUBELET_ADDRESS
        return address["address"] == self.former.addresses.get(address["type"])


async def _patch(plane: DataPlane, change: tuple[ForkedNode, dict[str, Json]]) -> None:
    node, status = change
    key = ObjectKey(NODES, None, node.name)
    patch = Patch(document={"status": status}, type=PatchType.MERGE, subresource="status")
    try:
        written = await plane.patch(key, patch, current=node.whole)
    except EtcdConflictError:  # the API server merges it with what was written meanwhile
        written = await plane.patch(key, patch)
    if plane.direct is not None:
        plane.direct.seen(NODES, int(written["metadata"]["resourceVersion"]))


def _port(node: ForkedNode) -> int:
    endpoints = node.status.get("daemonEndpoints") or {}
    port: int = (endpoints.get("kubeletEndpoint") or {}).get("Port", 0)
    return port
