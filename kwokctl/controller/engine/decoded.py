"""The fields that are decoded of every object in the events of a watch.

That costs a fraction of a full decode, which is done only if a Stage has to be chosen or played.
"""

import msgspec

from kwokctl.kube.collections.known_objects import Metadata

UNKNOWN = -2
"""Stands for the version of an object that has to be examined whatever its version is."""


class SelectableMetadata(Metadata, rename="camel"):
    """The identity of an object, and the fields that can select nodes and pods."""

    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class NodeMetadata(SelectableMetadata, rename="camel"):
    """Those of a node, and when it was created."""

    creation_timestamp: str = ""


class DecodedObject(msgspec.Struct, gc=False):
    """An object of any kind."""

    metadata: Metadata


class DecodedAddress(msgspec.Struct, gc=False):
    """An address of a node."""

    type: str = ""
    address: str = ""


class NodeCondition(msgspec.Struct, gc=False):
    """A condition of a node."""

    type: str = ""
    status: str = ""
    reason: str = ""


class PodIP(msgspec.Struct, gc=False):
    """An address of a pod."""

    ip: str = ""


class Taint(msgspec.Struct, gc=False):
    """A taint of a node."""

    key: str = ""
    value: str = ""
    effect: str = ""


class NodeSpec(msgspec.Struct, rename={"pod_cidr": "podCIDR", "pod_cidrs": "podCIDRs"}, gc=False):
    """The spec of a node."""

    pod_cidr: str = ""
    pod_cidrs: list[str] | None = None
    taints: list[Taint] | None = None


class NodeInfo(
    msgspec.Struct, rename={"boot_id": "bootID", "operating_system": "operatingSystem"}, gc=False
):
    """The `nodeInfo` of a node."""

    boot_id: str = ""
    operating_system: str = ""


class NodeStatus(msgspec.Struct, rename={"node_info": "nodeInfo"}, gc=False):
    """The status of a node."""

    addresses: list[DecodedAddress] | None = None
    conditions: list[NodeCondition] | None = None
    allocatable: msgspec.Raw = msgspec.Raw(b"")
    """The field as JSON: it is rarely decoded."""
    capacity: msgspec.Raw = msgspec.Raw(b"")
    node_info: NodeInfo = msgspec.field(default_factory=NodeInfo)


class DecodedNode(msgspec.Struct, gc=False):
    """A node."""

    metadata: NodeMetadata
    spec: NodeSpec = msgspec.field(default_factory=NodeSpec)
    status: NodeStatus = msgspec.field(default_factory=NodeStatus)


class PodSpec(msgspec.Struct, rename="camel", gc=False):
    """The spec of a pod."""

    node_name: str = ""
    host_network: bool = False


class PodStatus(msgspec.Struct, rename={"pod_ip": "podIP", "pod_ips": "podIPs"}, gc=False):
    """The status of a pod."""

    pod_ip: str = ""
    pod_ips: list[PodIP] | None = None


class DecodedPod(msgspec.Struct, gc=False):
    """A pod."""

    metadata: SelectableMetadata
    spec: PodSpec = msgspec.field(default_factory=PodSpec)
    status: PodStatus = msgspec.field(default_factory=PodStatus)


Decoded = DecodedObject | DecodedNode | DecodedPod


def version_of(metadata: Metadata) -> int:
    """Return an object's resourceVersion as a number, -1 if it is not one."""
    text = metadata.resource_version
    return int(text) if text.isdecimal() else -1


def key_of(metadata: Metadata) -> str:
    """Return "namespace/name", or "name" where there is no namespace."""
    name, namespace = metadata.name, metadata.namespace
    return f"{namespace}/{name}" if namespace else name
