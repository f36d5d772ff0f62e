"""The nodes that exist now: their states, their places, and what pods take of them."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from kwokctl.measure.record.amounts import amounts_in
from kwokctl.measure.record.fleet_lines import NodeChange, NodeGone, NodeSeen
from kwokctl.measure.record.record_lines import Lines, RecordText

_FULL = 0.95
"""The share of its main resource from which on a node counts as full."""


class NodeUse(msgspec.Struct, gc=False):
    """The pods that take something of a node, and what they request together."""

    pods: int = 0
    amounts: Counter[str] = msgspec.field(default_factory=Counter)


class SeenNodeState(msgspec.Struct, gc=False, kw_only=True):
    """A node that exists."""

    name: str
    allocatable: Mapping[str, int]
    taints: str
    is_ready: bool
    is_cordoned: bool
    since: int
    """The time in ns at which it became as it is, or was seen first."""
    was_so: bool
    """Whether it was so already when it was seen first."""


class SeenFleet:
    """The present state of all nodes, by the lines about them and about pods."""

    def __init__(self) -> None:
        self.nodes: dict[str, SeenNodeState] = {}
        self.places: dict[str, str] = {}
        """By the name of a node, its rack or zone; nodes without one are not in it."""
        self.faults: dict[str, str] = {}
        """By the name of a node that shows faults, their names."""
        self.allocatable: Counter[str] = Counter()
        """The sums over all nodes."""
        self.requested: Counter[str] = Counter()
        self.changed: set[str] = set()
        """The names of nodes that may have another state than when this was emptied."""
        self.layouts = 0
        """It grows when nodes come, go, or stand elsewhere."""
        self._uses: dict[str, NodeUse] = {}
        self._names: dict[int, str] = {}
        self._texts: dict[int, str] = {0: ""}
        self._takers: Mapping[type, Callable[[Any], None]] = {
            RecordText: self._text,
            NodeSeen: self._seen,
            NodeChange: self._change,
            NodeGone: self._gone,
        }

    def take(self, line: Lines) -> None:
        """Add a line."""
        taker = self._takers.get(type(line))
        if taker is not None:
            taker(line)

    def note(self, name: str, place: str, faults: str) -> None:
        """Note where a node stands, and which faults it shows."""
        if self.places.get(name, "") != place:
            self.places[name] = place
            self.layouts += 1
        if faults:
            self.faults[name] = faults
        else:
            self.faults.pop(name, None)
        self.changed.add(name)

    def occupy(self, node: str, requests: str, sign: int) -> None:
        """Note that a pod takes something of a node, or takes it no longer."""
        use = self._uses.setdefault(node, NodeUse())
        use.pods += sign
        for resource, amount in amounts_in(requests).items():
            use.amounts[resource] += sign * amount
            self.requested[resource] += sign * amount
        self.requested["pods"] += sign
        if not use.pods:
            del self._uses[node]
        self.changed.add(node)

    def pods_on(self, node: str) -> int:
        """Return the number of pods that take something of a node."""
        use = self._uses.get(node)
        return use.pods if use else 0

    def share_of(self, node: SeenNodeState) -> float:
        """Return how much of a node is requested: of the resource of which most is."""
        use = self._uses.get(node.name)
        if use is None:
            return 0.0
        shares = (
            amount / node.allocatable[resource]
            for resource, amount in use.amounts.items()
            if node.allocatable.get(resource)
        )
        return max(shares, default=0.0)

    def is_full(self, node: SeenNodeState) -> bool:
        """Return whether hardly anything can be placed on a node."""
        return self.share_of(node) >= _FULL

    def troubled(self) -> Iterator[SeenNodeState]:
        """Yield the nodes that are not Ready, cordoned, or show faults."""
        for node in self.nodes.values():
            if not node.is_ready or node.is_cordoned or node.name in self.faults:
                yield node

    def _text(self, line: RecordText) -> None:
        self._texts[line.number] = line.text

    def _seen(self, line: NodeSeen) -> None:
        self._names[line.number] = line.name
        self._keep(line.name, line, was_so=line.listed)
        self.layouts += 1

    def _change(self, line: NodeChange) -> None:
        self._keep(self._names[line.number], line, was_so=False)

    def _gone(self, line: NodeGone) -> None:
        name = self._names.pop(line.number)
        node = self.nodes.pop(name, None)
        if node is not None:
            self.allocatable.subtract(node.allocatable)
        self.places.pop(name, None)
        self.faults.pop(name, None)
        self.changed.discard(name)
        self.layouts += 1

    def _keep(self, name: str, line: NodeSeen | NodeChange, *, was_so: bool) -> None:
        allocatable = amounts_in(self._texts[line.allocatable])
        known = self.nodes.get(name)
        if known is not None:
            self.allocatable.subtract(known.allocatable)
        self.allocatable.update(allocatable)
        since = line.time
        if known and (known.is_ready, known.is_cordoned) == (line.ready, line.cordoned):
            since, was_so = known.since, known.was_so
        self.nodes[name] = SeenNodeState(
            name=name,
            allocatable=allocatable,
            taints=self._texts[line.taints],
            is_ready=line.ready,
            is_cordoned=line.cordoned,
            since=since,
            was_so=was_so,
        )
        self.changed.add(name)
