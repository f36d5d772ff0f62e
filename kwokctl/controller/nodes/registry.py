"""The nodes that this controller plays, the pods on each, and which of the nodes it may write to."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from kwokctl.controller.nodes.facts import NO_FACTS, NodeFacts


class Hold(Enum):
    """Whether this controller may write to a node and to its pods."""

    PENDING = "pending"
    """Its lease is being requested."""
    HELD = "held"
    FOREIGN = "foreign"
    """Another controller holds its lease."""


@dataclass(slots=True)
class ManagedNode:
    """What is kept of a managed node."""

    name: str
    uid: str
    cidrs: tuple[str, ...]
    """Where its pods get their addresses from; empty means the controller's default."""
    addresses: tuple[str, ...]
    """Its own addresses: internal ones before external ones."""
    hold: Hold = Hold.PENDING
    facts: NodeFacts = NO_FACTS


class HoldListener(Protocol):
    """What follows the holds of nodes."""

    def changed(self, node: ManagedNode) -> None:
        """Take note of a node whose hold has changed, or was confirmed."""
        ...

    def gone(self, name: str) -> None:
        """Take note that a node is not managed any more."""
        ...


class NodeRegistry:
    """Managed nodes by name, and the keys of the pods on every node."""

    def __init__(self) -> None:
        """Begin with no node."""
        self._nodes: dict[str, ManagedNode] = {}
        self._pods: defaultdict[str, set[str]] = defaultdict(set)
        self._listeners: list[HoldListener] = []

    def __len__(self) -> int:
        """Count the managed nodes."""
        return len(self._nodes)

    def __iter__(self) -> Iterator[ManagedNode]:
        """Go through the managed nodes."""
        return iter(self._nodes.values())

    def get(self, name: str) -> ManagedNode | None:
        """Return a managed node, or None."""
        return self._nodes.get(name)

    def put(self, node: ManagedNode) -> None:
        """Add or replace a managed node."""
        self._nodes[node.name] = node

    def listen(self, listener: HoldListener) -> None:
        """Call `listener` from now on."""
        self._listeners.append(listener)

    def set_hold(self, name: str, hold: Hold) -> None:
        """Take note that a node's lease was won or lost, if the node is managed."""
        node = self._nodes.get(name)
        if node is not None:
            node.hold = hold
            for listener in self._listeners:
                listener.changed(node)

    def remove(self, name: str) -> None:
        """Forget a node; its pods stay known."""
        self._nodes.pop(name, None)
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
