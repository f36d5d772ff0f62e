"""Replays which pods were on which nodes, and meters what was taken and what was left there. Pure.

A pod takes what it requests of its node from when it is bound until it has ended or is gone, as the scheduler
counts. What is left counts where a pod could be bound: on nodes that are Ready and not cordoned.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

import msgspec

from kwokctl.measure.figures.levels import LevelMeter
from kwokctl.measure.histories.fleet_history import NodeMoment
from kwokctl.measure.histories.history import History, PodHistory
from kwokctl.measure.record.amounts import amounts_in

MOST_SIZES = 32
"""Sizes of pods that count: the most frequent."""
_NO_DEVICES = ("cpu", "memory", "ephemeral-storage", "pods")
_PAGES = "hugepages-"
_ONE_POD = {"pods": 1}
Amounts = Mapping[str, int]
Happening = tuple[int, str, "NodeMoment | OthersTaken | PodShare | None"]
"""The time, the name of the node, and what changes there: its state, what others take, or what a pod takes; None is its end."""


class OthersTaken(msgspec.Struct, frozen=True, gc=False):
    """The sum of what pods take of a node that are not in the record."""

    amounts: Amounts


class PodShare(msgspec.Struct, frozen=True, gc=False):
    """The amounts that a pod begins to take, or takes no longer."""

    amounts: Amounts
    sign: int


class _Node:
    """A node as it is at one time of the replay."""

    __slots__ = ("allocatable", "is_open", "others", "rooms", "used")

    def __init__(self) -> None:
        self.allocatable: Amounts | None = None
        """None while it does not exist."""
        self.is_open = False
        self.used: Counter[str] = Counter()
        self.others: Amounts = {}
        self.rooms: dict[str, tuple[int, int, tuple[int, ...]]] = {}
        """The part of this node in the sums of the room of each device."""

    def fits(self, size: Amounts) -> int:
        """Return how many pods of a size could be bound to it at once."""
        has, used = self.allocatable or {}, self.used
        return max(0, min((has.get(name, 0) - used[name]) // need for name, need in size.items()))


class DeviceRoom:
    """The room that is left of one device for pods of the sizes of the run."""

    def __init__(self, device: str, sizes: Mapping[str, int], begin: int, end: int) -> None:
        """Take the sizes as texts, with the number of pods of each, the most frequent first."""
        self._device = device
        self.sizes = [*sizes]
        self._amounts = [{**amounts_in(text), **_ONE_POD} for text in sizes]
        self._weights = [*sizes.values()]
        self._free = self._waste = 0
        self.fit = [0] * len(self.sizes)
        """The numbers of pods of each size that would fit now."""
        self.least: Sequence[int] = ()
        """The numbers when the fewest did."""
        needs = [amounts[device] for amounts in self._amounts]
        self.largest = needs.index(max(needs))
        """The place of the size with the most of this device."""
        self.fragmentation = LevelMeter(begin, end)
        self.most = LevelMeter(begin, end)
        """The number of pods of the largest size that would fit."""

    def recount(self, node: _Node) -> None:
        """Count a node again that has changed."""
        free, waste, fit = self._left_on(node)
        old_free, old_waste, old_fit = node.rooms.get(self._device) or (0, 0, (0,) * len(fit))
        node.rooms[self._device] = free, waste, fit
        self._free += free - old_free
        self._waste += waste - old_waste
        if fit != old_fit:
            self.fit = [
                all_fit + now - old
                for all_fit, now, old in zip(self.fit, fit, old_fit, strict=True)
            ]

    def meter(self, time: int) -> None:
        """Note what is left from now on."""
        total = self._free * sum(self._weights)
        self.fragmentation.change(time, 100 * self._waste / total if total else 0.0)
        self.most.change(time, self.fit[self.largest])

    def held(self) -> None:
        """Note that it has been so for a while."""
        self.least = [*map(min, self.least, self.fit)] if self.least else [*self.fit]

    def _left_on(self, node: _Node) -> tuple[int, int, tuple[int, ...]]:
        """Return the free devices, those that pods cannot use, by size and number of pods, and how many pods fit."""
        nothing = (0,) * len(self.sizes)
        if node.allocatable is None or not node.is_open:
            return 0, 0, nothing
        free = max(0, node.allocatable.get(self._device, 0) - node.used[self._device])
        if not free:
            return 0, 0, nothing
        fit = tuple(map(node.fits, self._amounts))
        waste = sum(
            weight * (free - number * amounts[self._device])
            for weight, number, amounts in zip(self._weights, fit, self._amounts, strict=True)
        )
        return free, waste, fit


class FleetReplay:
    """The resources that were taken and left of the nodes, over time."""

    def __init__(self, history: History, pods: Iterable[PodHistory]) -> None:
        """Replay a run; `pods` are those whose sizes count."""
        begin, end = history.begin, history.end
        self._begin, self._end = begin, end
        self._nodes: dict[str, _Node] = {}
        devices = devices_of(history)
        names = ("cpu", "memory", *devices)
        self.shares = {name: LevelMeter(begin, end) for name in names}
        """The requested share of allocatable, in percent."""
        self._allocatable = dict.fromkeys(names, 0)
        self._used = dict.fromkeys(names, 0)
        sizes = Counter(pod.shape.requests for pod in pods)
        self.rooms: dict[str, DeviceRoom] = {}
        """By device, for those that pods of the run request."""
        for device in devices:
            wanting = Counter({s: n for s, n in sizes.items() if amounts_in(s).get(device)})
            if wanting:
                most = dict(wanting.most_common(MOST_SIZES))
                self.rooms[device] = DeviceRoom(device, most, begin, end)
        self._run(sorted(happenings(history), key=itemgetter(0)))

    def _run(self, happenings: Iterable[Happening]) -> None:
        for time, together in groupby(happenings, key=itemgetter(0)):
            if time > self._end:
                break
            if time > self._begin:
                self._held()
            changed = {self._apply(name, what) for _, name, what in together}
            for room in self.rooms.values():
                for node in changed:
                    room.recount(node)
                room.meter(time)
            for name, meter in self.shares.items():
                if self._allocatable[name]:
                    meter.change(time, 100 * self._used[name] / self._allocatable[name])
        self._held()

    def _held(self) -> None:
        for room in self.rooms.values():
            room.held()

    def _apply(self, name: str, what: "NodeMoment | OthersTaken | PodShare | None") -> _Node:
        """Change a node, and return it."""
        node = self._nodes.get(name)
        if node is None:
            node = self._nodes[name] = _Node()
        if isinstance(what, PodShare):
            self._take(node, what.amounts, what.sign)
        elif isinstance(what, OthersTaken):
            self._take(node, node.others, -1)
            self._take(node, what.amounts, 1)
            node.others = what.amounts
        else:
            self._count(node, -1)
            node.allocatable = None if what is None else amounts_in(what.allocatable)
            node.is_open = what is not None and what.ready and not what.cordoned
            self._count(node, 1)
        return node

    def _take(self, node: _Node, amounts: Amounts, sign: int) -> None:
        exists = node.allocatable is not None
        for name, amount in amounts.items():
            node.used[name] += sign * amount
            if exists and name in self._used:
                self._used[name] += sign * amount

    def _count(self, node: _Node, sign: int) -> None:
        """Add a node to the sums, or take it out of them."""
        if node.allocatable is not None:
            for name in self._used:
                self._allocatable[name] += sign * node.allocatable.get(name, 0)
                self._used[name] += sign * node.used[name]


def devices_of(history: History) -> Sequence[str]:
    """Return the names of the resources that are neither processors, memory, storage nor pods."""
    texts = {state.allocatable for node in history.fleet.nodes.values() for state in node.states}
    names = {name for text in texts for name, amount in amounts_in(text).items() if amount}
    return sorted(name for name in names if name not in _NO_DEVICES and not name.startswith(_PAGES))


def happenings(history: History) -> Iterator[Happening]:
    """Yield all that changes nodes or what pods take of them, in no order."""
    fleet = history.fleet
    for node in fleet.nodes.values():
        for state in node.states:
            yield state.time, node.name, state
        if node.gone is not None:
            yield node.gone, node.name, None
    for line in fleet.others:
        amounts = amounts_in(history.texts[line.requests])
        yield line.time, line.node, OthersTaken({**amounts, "pods": line.pods})
    begins: dict[str, PodShare] = {}
    ends: dict[str, PodShare] = {}
    for pod in history.pods.values():
        if not pod.node or "ended" in pod.at_first:
            continue
        size = pod.shape.requests
        if size not in begins:
            amounts = {**amounts_in(size), **_ONE_POD}
            begins[size], ends[size] = PodShare(amounts, 1), PodShare(amounts, -1)
        yield (pod.seen if pod.bound is None else pod.bound), pod.node, begins[size]
        over = [time for time in (pod.ended, pod.gone) if time is not None]
        if over:
            yield min(over), pod.node, ends[size]
