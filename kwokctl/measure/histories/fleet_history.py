"""The history of the fleet: its nodes, what others request of them, and what happened to pods against their will."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from kwokctl.measure.record.fleet_lines import (
    NodeChange,
    NodeGone,
    NodeSeen,
    OtherRequests,
    PodInterruption,
)


class NodeMoment(msgspec.Struct, frozen=True, gc=False):
    """The state of a node from some time on; texts as they are in the record."""

    time: int
    allocatable: str
    labels: str
    taints: str
    ready: bool
    cordoned: bool
    conditions: str = ""


class NodeHistory(msgspec.Struct, gc=False, kw_only=True):
    """A node from the time at which it was seen first."""

    name: str
    states: list[NodeMoment]
    place: str = ""
    """Its place in a fleet of kwokctl, such as `rack=dgx-rack-0003,leaf=…`."""
    gone: int | None = None

    def label(self, key: str) -> str:
        """Return the last value of one of the recorded labels; empty without one."""
        pairs = (part.partition("=") for part in self.states[-1].labels.split(","))
        return next((value for name, _, value in pairs if name == key), "")


class FleetHistory:
    """All that a record says of the fleet."""

    def __init__(self, texts: Mapping[int, str]) -> None:
        """Read the numbers of texts by `texts`."""
        self.nodes: dict[int, NodeHistory] = {}
        self.node_of: dict[str, NodeHistory] = {}
        """By name: the last one that had it."""
        self.others: list[OtherRequests] = []
        self.interruptions: list[PodInterruption] = []
        self._texts = texts
        self.takers: Mapping[type, Callable[[Any], None]] = {
            NodeSeen: self._seen,
            NodeChange: self._change,
            NodeGone: self._gone,
            OtherRequests: self.others.append,
            PodInterruption: self.interruptions.append,
        }

    def _seen(self, line: NodeSeen) -> None:
        place = self._texts[line.place]
        states = [self._state(line)]
        node = NodeHistory(name=line.name, states=states, place=place)
        self.nodes[line.number] = self.node_of[line.name] = node

    def _change(self, line: NodeChange) -> None:
        self.nodes[line.number].states.append(self._state(line))

    def _gone(self, line: NodeGone) -> None:
        self.nodes[line.number].gone = line.time

    def _state(self, line: NodeSeen | NodeChange) -> NodeMoment:
        texts = self._texts
        return NodeMoment(
            line.time, texts[line.allocatable], texts[line.labels], texts[line.taints], line.ready,
            line.cordoned, texts[line.conditions],
        )  # fmt: skip
