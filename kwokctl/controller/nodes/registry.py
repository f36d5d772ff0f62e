"""The nodes that this controller plays, and the pods that lie on each."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum


class Hold(Enum):
    """Whether this controller may write to a node and to its pods."""

    PENDING = "pending"
    """Its lease is being asked for."""
    HELD = "held"
    FOREIGN = "foreign"
    """Another controller holds its lease."""


@dataclass(slots=True)
class Node:
    """What is kept of a managed node."""

    name: str
    uid: str
    cidrs: tuple[str, ...]
    """Where its pods get their addresses from; empty means the controller's default."""
    addresses: tuple[str, ...]
    """Its own addresses: internal ones before external ones."""
    hold: Hold = Hold.PENDING


class Nodes:
    """Managed nodes by name, and the keys of the pods on every node."""

    def __init__(self) -> None:
        """Begin with no node."""
        self._nodes: dict[str, Node] = {}
        self._pods: defaultdict[str, set[str]] = defaultdict(set)

    def __len__(self) -> int:
        """Count the managed nodes."""
        return len(self._nodes)

    def __iter__(self) -> Iterator[Node]:
        """Go through the managed nodes."""
        return iter(self._nodes.values())

    def get(self, name: str) -> Node | None:
        """Return a managed node, or None."""
        return self._nodes.get(name)

    def put(self, node: Node) -> None:
        """Add or replace a managed node."""
        self._nodes[node.name] = node

    def remove(self, name: str) -> None:
        """Forget a node; its pods stay known."""
        self._nodes.pop(name, None)

    def pods(self, name: str) -> tuple[str, ...]:
        """Return the keys of the pods on a node, managed or not."""
        return tuple(self._pods.get(name, ()))

    def add_pod(self, name: str, key: str) -> None:
        """Remember that a pod lies on a node."""
        self._pods[name].add(key)

    def remove_pod(self, name: str, key: str) -> None:
        """Forget a pod."""
        keys = self._pods.get(name)
        if keys is None:
            return
        keys.discard(key)
        if not keys:
            del self._pods[name]
