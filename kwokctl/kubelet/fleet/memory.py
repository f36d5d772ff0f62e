"""Keeps the fake nodes and the pods on all nodes, by name and by node."""

from collections import defaultdict
from collections.abc import Hashable, Iterable
from typing import TypeVar

from kwokctl.kubelet.fleet.views import NodeView, PodView

Member = TypeVar("Member", bound=Hashable)


class FleetMemory:
    """The nodes and pods that have been seen."""

    def __init__(self) -> None:
        self._nodes: dict[str, NodeView] = {}
        self._by_address: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._pods: dict[tuple[str, str], PodView] = {}
        self._on: defaultdict[str, dict[tuple[str, str], None]] = defaultdict(dict)

    def node(self, name: str) -> NodeView | None:
        """Return a node by name."""
        return self._nodes.get(name)

    def nodes(self) -> Iterable[NodeView]:
        """Return all nodes."""
        return self._nodes.values()

    def nodes_at(self, address: str) -> Iterable[NodeView]:
        """Return the nodes that have an address."""
        return [self._nodes[name] for name in self._by_address.get(address, ())]

    def pod(self, namespace: str, name: str) -> PodView | None:
        """Return a pod that is on one of these nodes."""
        found = self._pods.get((namespace, name))
        return found if found is not None and found.node in self._nodes else None

    def pods_on(self, node: str) -> Iterable[PodView]:
        """Return the pods on a node."""
        return [self._pods[key] for key in self._on.get(node, ())]

    def count(self) -> tuple[int, int]:
        """Return how many nodes and pods are kept."""
        return len(self._nodes), len(self._pods)

    def put_node(self, node: NodeView) -> None:
        """Add or replace a node."""
        self.drop_node(node.name)
        self._nodes[node.name] = node
        for address in node.addresses:
            self._by_address[address][node.name] = None

    def drop_node(self, name: str) -> None:
        """Forget a node; its pods stay known."""
        former = self._nodes.pop(name, None)
        for address in former.addresses if former is not None else ():
            _take_out(self._by_address, address, name)

    def put_pod(self, pod: PodView) -> None:
        """Add or replace a pod."""
        key = (pod.namespace, pod.name)
        former = self._pods.get(key)
        if former is not None and former.node != pod.node:
            _take_out(self._on, former.node, key)
        self._pods[key] = pod
        self._on[pod.node][key] = None

    def drop_pod(self, namespace: str, name: str) -> None:
        """Forget a pod."""
        key = (namespace, name)
        former = self._pods.pop(key, None)
        if former is not None:
            _take_out(self._on, former.node, key)


def _take_out(groups: dict[str, dict[Member, None]], name: str, member: Member) -> None:
    group = groups.get(name)
    if group is not None:
        group.pop(member, None)
        if not group:
            del groups[name]
