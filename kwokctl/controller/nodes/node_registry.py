"""The nodes that this controller plays, the pods on each, and which of the nodes it may write to."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from enum import Enum
from typing import Protocol

import msgspec

from kwokctl.controller.nodes.facts import NO_FACTS, NodeFacts


class Hold(Enum):
    """Whether this controller may write to a node and to its pods."""

    PENDING = "pending"
    """Its lease is being requested."""
    HELD = "held"
    FOREIGN = "foreign"
    """Another controller holds its lease, or none does: its kubelet is silent."""


class ManagedNode(msgspec.Struct):
    """The state that is kept about a managed node."""

    name: str
    uid: str
    cidrs: tuple[str, ...]
    """The CIDRs of its pods; empty means the controller's default."""
    addresses: tuple[str, ...]
    """Its own addresses: internal ones before external ones."""
    hold: Hold = Hold.PENDING
    facts: NodeFacts = NO_FACTS
    is_down: bool = False
    """Whether its kubelet is taken to be down: the node has its Lease, but its pods stand still."""
    is_silent: bool = False
    """Whether its kubelet is silent: no controller writes to the node."""
    is_silenced: bool = False
    """Whether a user has silenced it, by an annotation: a fault may do so, too."""
    boot: int = 0
    """A hash of its boot ID, which takes less memory than that; 0 if it has none."""
    created: str = ""
    """Its creation time, as the cluster writes it."""
    former_boots: frozenset[int] = frozenset()
    """Those of the boot IDs before: a rewind puts one of them back, which is no reboot."""

    @property
    def plays_pods(self) -> bool:
        """Whether this controller may write to its pods now."""
        return self.hold is Hold.HELD and not self.is_down


class NodeListener(Protocol):
    """A listener for the holds of nodes, and for their kubelets."""

    def changed(self, node: ManagedNode) -> None:
        """Note a node whose hold has changed, or was confirmed."""
        ...

    def turned(self, node: ManagedNode) -> None:
        """Note that the kubelet of a node went down, or is back."""
        ...

    def rebooted(self, node: ManagedNode) -> None:
        """Note that the machine of a node was started anew."""
        ...

    def described(self, node: ManagedNode) -> None:
        """Note the reported properties of a node, if they have changed."""
        ...

    def gone(self, name: str) -> None:
        """Note that a node is not managed any more."""
        ...


class NodeRegistry:
    """Managed nodes by name, and the keys of the pods on every node."""

    def __init__(self) -> None:
        self._nodes: dict[str, ManagedNode] = {}
        self._pods: defaultdict[str, set[str]] = defaultdict(set)
        self._listeners: list[NodeListener] = []
        self._with_cidr: Counter[str] = Counter()
        """The number of nodes with each CIDR."""

    def __len__(self) -> int:
        return len(self._nodes)

    def __iter__(self) -> Iterator[ManagedNode]:
        return iter(self._nodes.values())

    def get(self, name: str) -> ManagedNode | None:
        """Return a managed node, or None."""
        return self._nodes.get(name)

    def put(self, node: ManagedNode) -> None:
        """Add or replace a managed node."""
        if (former := self._nodes.get(node.name)) is not None:
            self._uncount(former.cidrs)
        self._nodes[node.name] = node
        self._with_cidr.update(node.cidrs)

    def move(self, node: ManagedNode, cidrs: tuple[str, ...]) -> None:
        """Note the CIDRs of the pods of a managed node."""
        self._uncount(node.cidrs)
        self._with_cidr.update(cidrs)
        node.cidrs = cidrs

    def is_common(self, cidr: str) -> bool:
        """Return whether several nodes have the same CIDR."""
        return self._with_cidr[cidr] > 1

    def listen(self, listener: NodeListener) -> None:
        """Call `listener` from now on."""
        self._listeners.append(listener)

    def set_hold(self, name: str, hold: Hold) -> None:
        """Note that a node's lease was won or lost, if the node is managed."""
        node = self._nodes.get(name)
        if node is not None:
            node.hold = hold
            for listener in self._listeners:
                listener.changed(node)

    def describe(self, node: ManagedNode, facts: NodeFacts) -> None:
        """Note the reported properties of a managed node."""
        if facts != node.facts:
            node.facts = facts
            for listener in self._listeners:
                listener.described(node)

    def set_down(self, node: ManagedNode, *, is_down: bool) -> None:
        """Note whether the kubelet of a managed node is down."""
        if is_down is not node.is_down:
            node.is_down = is_down
            for listener in self._listeners:
                listener.turned(node)

    def set_boot(self, node: ManagedNode, boot: int) -> None:
        """Note the boot ID of a managed node; one that it has never had is that of a reboot."""
        if boot in (0, node.boot):
            return
        former, is_known = node.boot, boot in node.former_boots
        node.boot = boot
        if former:
            node.former_boots |= {former}
            if not is_known:
                for listener in self._listeners:
                    listener.rebooted(node)

    def remove(self, name: str) -> None:
        """Forget a node; its pods stay known."""
        if (node := self._nodes.pop(name, None)) is not None:
            self._uncount(node.cidrs)
        for listener in self._listeners:
            listener.gone(name)

    def pods(self, name: str) -> tuple[str, ...]:
        """Return the keys of the pods on a node, managed or not."""
        return tuple(self._pods.get(name, ()))

    def add_pod(self, name: str, key: str) -> None:
        """Remember that a pod is on a node."""
        self._pods[name].add(key)

    def remove_pod(self, name: str, key: str) -> None:
        """Forget a pod."""
        keys = self._pods.get(name)
        if keys is None:
            return
        keys.discard(key)
        if not keys:
            del self._pods[name]

    def _uncount(self, cidrs: tuple[str, ...]) -> None:
        self._with_cidr.subtract(cidrs)
        for cidr in cidrs:
            if not self._with_cidr[cidr]:
                del self._with_cidr[cidr]
