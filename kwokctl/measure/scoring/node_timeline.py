"""A node by its name, with all that it was like: also where it was deleted, and made again with the same name. Pure."""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import pairwise

from kwokctl.measure.histories.fleet_history import NodeHistory, NodeMoment
from kwokctl.measure.histories.history import History
from kwokctl.measure.record.amounts import amounts_in

_HARD = (":NoSchedule", ":NoExecute")
_OF_KUBERNETES = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
"""The beginnings of the keys of taints that Kubernetes' own controllers set."""
_DEVICE = "/gpu"
"""The ending of the names of resources that count as devices: `nvidia.com/gpu`."""
State = tuple[int, NodeMoment | None]
"""A time, and what the node was like from then on; None while it did not exist."""


class NodeTimeline:
    """The states of one node, in the order of their times."""

    def __init__(self, name: str, nodes: Iterable[NodeHistory], marks: Collection[str]) -> None:
        """Know a node by the nodes that had its name one after the other; `marks` are the taints that faults set."""
        self.name = name
        self.states: list[State] = []
        for node in nodes:
            self.states += ((state.time, state) for state in node.states)
            if node.gone is not None:
                self.states.append((node.gone, None))
        self._times = [time for time, _ in self.states]
        self._usual = {*marks, *_taints(self.states[0][1])}
        self.devices = max(map(devices_of_state, (state for _, state in self.states)))
        """The devices that it has when nothing is wrong with it."""

    def at(self, time: int) -> NodeMoment | None:
        """Return what it was like at a time; what it was first it was before, too."""
        return self.states[max(bisect_right(self._times, time) - 1, 0)][1]

    def since(self, time: int) -> Iterator[State]:
        """Yield what it was like at a time, and then each change."""
        yield time, self.at(time)
        yield from self.states[bisect_right(self._times, time) :]

    def gone_after(self, time: int) -> int | None:
        """Return when it was deleted first after a time; None if it was not."""
        return next((when for when, state in self.since(time) if state is None), None)

    def is_kept_away(self, state: NodeMoment | None) -> bool:
        """Return whether a client keeps pods away from it: it is cordoned, or has a taint that is neither a fault's nor Kubernetes' own."""
        if state is None:
            return False
        return state.cordoned or any(map(self.is_barrier, _taints(state)))

    def is_barrier(self, taint: str) -> bool:
        """Return whether a taint, `KEY:EFFECT`, keeps pods away because a client has reacted."""
        is_hard = taint.endswith(_HARD) and taint not in self._usual
        return is_hard and not taint.startswith(_OF_KUBERNETES)

    def is_back(self, state: NodeMoment | None) -> bool:
        """Return whether it can be used as a whole: Ready, open to pods, with all of its devices."""
        if state is None or not state.ready or self.is_kept_away(state):
            return False
        return devices_of_state(state) >= self.devices

    def kept_away(self) -> Iterator[tuple[int, int | None, bool]]:
        """Yield when pods began to be kept away, when that ended, if it did, and whether the beginning was seen."""
        begin: int | None = None
        was_seen = False
        for number, (time, state) in enumerate(self.states):
            is_kept = self.is_kept_away(state)
            if is_kept and begin is None:
                begin, was_seen = time, number > 0
            elif not is_kept and begin is not None:
                yield begin, time, was_seen
                begin = None
        if begin is not None:
            yield begin, None, was_seen

    def spans(self, begin: int, end: int) -> Iterator[tuple[int, int, NodeMoment | None]]:
        """Yield the times between two times in which it did not change, and what it was like."""
        found = [each for each in self.since(begin) if each[0] < end]
        for (time, state), (stop, _) in pairwise([*found, (end, None)]):
            yield time, stop, state


def timelines_of(history: History) -> Mapping[str, NodeTimeline]:
    """Return the nodes of a record by their names."""
    named: dict[str, list[NodeHistory]] = {}
    for node in history.fleet.nodes.values():
        named.setdefault(node.name, []).append(node)
    marks = {
        mark
        for truth in history.incidents.truths.values()
        for shown in truth.marks.values()
        for mark in shown
    }
    return {name: NodeTimeline(name, nodes, marks) for name, nodes in named.items()}


def devices_of_state(state: NodeMoment | None) -> int:
    """Return the number of devices that a node offers."""
    if state is None:
        return 0
    found = amounts_in(state.allocatable)
    return sum(amount for name, amount in found.items() if name.endswith(_DEVICE))


def shown_by(state: NodeMoment | None) -> frozenset[str]:
    """Return the conditions and taints of a node, as the marks of faults are written."""
    if state is None:
        return frozenset()
    return frozenset((*state.conditions.split(","), *_taints(state)))


def _taints(state: NodeMoment | None) -> Iterator[str]:
    """Yield the taints of a state without their values."""
    for taint in state.taints.split(",") if state and state.taints else ():
        key, _, effect = taint.rpartition(":")
        yield f"{key.partition('=')[0]}:{effect}"
