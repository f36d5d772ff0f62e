"""What is decoded of every object that a watch tells, and what is kept of it.

Decoding only these fields costs about a tenth of a full decode, and an object at rest keeps none
of its text. The full object is decoded only when a stage is chosen or played.
"""

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from kwokctl.controller.choice import Basis
    from kwokctl.controller.engine import Engine
    from kwokctl.controller.stages import Stage


UNKNOWN = -2
"""The version of an object that has to be looked at whatever its version is."""


class Metadata(msgspec.Struct, rename="camel", gc=False):
    """The metadata that every kind needs."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""


class SelectableMetadata(Metadata, rename="camel"):
    """The same with what nodes and pods may be selected by."""

    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class Seen(msgspec.Struct, gc=False):
    """An object of any kind."""

    metadata: Metadata


class Address(msgspec.Struct, gc=False):
    """An address of a node."""

    type: str = ""
    address: str = ""


class PodAddress(msgspec.Struct, gc=False):
    """An address of a pod."""

    ip: str = ""


class NodeSpec(msgspec.Struct, rename={"pod_cidr": "podCIDR", "pod_cidrs": "podCIDRs"}, gc=False):
    """What a node is to be."""

    pod_cidr: str = ""
    pod_cidrs: list[str] | None = None


class NodeStatus(msgspec.Struct, gc=False):
    """What a node is."""

    addresses: list[Address] | None = None


class SeenNode(msgspec.Struct, gc=False):
    """A node."""

    metadata: SelectableMetadata
    spec: NodeSpec = msgspec.field(default_factory=NodeSpec)
    status: NodeStatus = msgspec.field(default_factory=NodeStatus)


class PodSpec(msgspec.Struct, rename="camel", gc=False):
    """What a pod is to be."""

    node_name: str = ""
    host_network: bool = False


class PodStatus(msgspec.Struct, rename={"pod_ip": "podIP", "pod_ips": "podIPs"}, gc=False):
    """What a pod is."""

    pod_ip: str = ""
    pod_ips: list[PodAddress] | None = None


class SeenPod(msgspec.Struct, gc=False):
    """A pod."""

    metadata: SelectableMetadata
    spec: PodSpec = msgspec.field(default_factory=PodSpec)
    status: PodStatus = msgspec.field(default_factory=PodStatus)


SeenAny = Seen | SeenNode | SeenPod


class Entry:
    """One object: who it is, how far it is known, and what is to happen to it next."""

    __slots__ = (
        "basis",
        "busy",
        "due",
        "engine",
        "key",
        "name",
        "namespace",
        "news",
        "node",
        "parked",
        "queued",
        "raw",
        "stage",
        "step",
        "tries",
        "uid",
        "value",
        "version",
    )

    def __init__(self, engine: "Engine", key: str, metadata: Metadata) -> None:
        """Begin with an object of which nothing is known but its name."""
        self.engine = engine
        self.key = key
        self.name = metadata.name
        self.namespace = metadata.namespace
        self.uid = metadata.uid
        self.version = UNKNOWN
        self.node = ""
        """The node that it lies on, for pods."""
        self.raw: bytes | None = None
        """The object as JSON; None at rest."""
        self.value: Any = None
        """The same decoded, for the moment between being chosen and being played."""
        self.basis: Basis | None = None
        self.stage: Stage | None = None
        """What is to be played next; None at rest."""
        self.step = 0
        """The first of the stage's steps that has not succeeded yet."""
        self.tries = 0
        self.due = 0.0
        self.busy = False
        self.news = False
        """Seen anew, or woken, while a player was at work on it."""
        self.queued = False
        self.parked = False
        """Not looked at, because this controller may not write to it."""

    def rest(self) -> None:
        """Let nothing happen to it until it is seen again."""
        self.raw = self.value = self.basis = self.stage = None
        self.step = self.tries = 0

    def on_due(self) -> None:
        """Tell the engine that the stage's time has come."""
        self.engine.ready(self)


def version_of(metadata: Metadata) -> int:
    """Return an object's resourceVersion as the number that it is, -1 if it is none."""
    text = metadata.resource_version
    return int(text) if text.isdecimal() else -1
