"""The map of a fleet over time: a cell for each node, by racks, with what it was like in each frame. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from operator import itemgetter

from kwokctl.fleet.tree import place_of
from kwokctl.measure.figures.fleet import is_tainted
from kwokctl.measure.figures.fleet_replay import (
    OthersTaken,
    PodShare,
    devices_of,
    happenings,
)
from kwokctl.measure.histories.fleet_history import NodeHistory, NodeMoment
from kwokctl.measure.histories.history import History
from kwokctl.measure.pages.frames import Transition, fitting_frames
from kwokctl.measure.pages.page_data import FleetFrame, FleetGroup, FleetItem, FleetState
from kwokctl.measure.record.amounts import amounts_in
from kwokctl.measure.record.run_clock import SECOND

MOST_CHANGES = 40_000
"""Changes of nodes in all frames: more make longer frames."""
MOST_NAMES = 300_000
"""Letters of the names of nodes: with more, a node is named by its number."""
ABSENT, IDLE, PART, FULL, CORDONED, DOWN = ".", "i", "p", "f", "c", "x"
STATES = (
    FleetState(name="not there", code=ABSENT),
    FleetState(name="idle", code=IDLE),
    FleetState(name="in use in part", level="good", code=PART),
    FleetState(name="fully in use", level="good", code=FULL),
    FleetState(name="cordoned or tainted", level="warning", code=CORDONED),
    FleetState(name="not Ready", level="bad", code=DOWN),
)
_BADNESS = {DOWN: 2, CORDONED: 1}
"""The states that a frame shows however short they were."""
_PROCESSORS = "cpu"
_RACKS = ("rack", "domain", "leaf", "zone")
_NO_RACK = "all nodes"


class _Cell:
    """A node as it is at one time of the replay."""

    __slots__ = ("allocatable", "is_closed", "is_ready", "others", "used")

    def __init__(self) -> None:
        self.allocatable: Mapping[str, int] | None = None
        """None while it does not exist."""
        self.is_ready = self.is_closed = False
        self.used: Counter[str] = Counter()
        self.others: Mapping[str, int] = {}

    def apply(self, what: "NodeMoment | OthersTaken | PodShare | None") -> None:
        """Change it."""
        if isinstance(what, PodShare):
            self._take(what.amounts, what.sign)
        elif isinstance(what, OthersTaken):
            self._take(self.others, -1)
            self._take(what.amounts, 1)
            self.others = what.amounts
        else:
            self.allocatable = None if what is None else amounts_in(what.allocatable)
            self.is_ready = what is not None and what.ready
            self.is_closed = what is not None and (what.cordoned or is_tainted(what))

    def state(self, devices: Sequence[str]) -> str:
        """Return its state."""
        if self.allocatable is None:
            return ABSENT
        if not self.is_ready:
            return DOWN
        return CORDONED if self.is_closed else self._use(devices)

    def _use(self, devices: Sequence[str]) -> str:
        """Return how much of it is in use: of its devices, or else of its processors."""
        has = self.allocatable or {}
        counted = [name for name in devices if has.get(name)] or [_PROCESSORS]
        if all(self.used[name] <= 0 for name in counted):
            return IDLE
        is_full = all(self.used[name] >= has.get(name, 0) for name in counted)
        return FULL if is_full else PART

    def _take(self, amounts: Mapping[str, int], sign: int) -> None:
        for name, amount in amounts.items():
            self.used[name] += sign * amount


def fleet_map(history: History, seconds: float) -> FleetItem | None:
    """Return the map of all nodes over a run of that many seconds; None without nodes."""
    groups = _groups(history, history.header.topology)
    names = [name for nodes in groups.values() for name in nodes]
    if not names:
        return None
    transitions = _transitions(history, {name: place for place, name in enumerate(names)})
    grid, frames = fitting_frames(
        transitions, len(names), seconds, first=ABSENT, badness=_BADNESS, most_changes=MOST_CHANGES
    )
    shown, note = _shown(groups, names)
    return FleetItem(
        id="fleet-map",
        title="Fleet, by rack",
        note="; ".join(filter(None, (_NOTE, note))),
        groups=shown,
        states=STATES,
        start=grid.start,
        step=grid.step,
        count=grid.count,
        frames=[FleetFrame(changes=each) for each in frames],
    )


_NOTE = (
    "use of its devices, or else of its processors, at the end of each frame; "
    "not Ready or cordoned if it was so at any time in it"
)


def _shown(
    groups: Mapping[str, Sequence[str]], names: Sequence[str]
) -> tuple[list[FleetGroup], str]:
    """Return the groups with the names of their nodes, or with numbers if the names are too long in all."""
    if sum(map(len, names)) <= MOST_NAMES:
        return [FleetGroup(name=rack, nodes=nodes) for rack, nodes in groups.items()], ""
    shown = [
        FleetGroup(name=rack, nodes=[str(number) for number in range(1, len(nodes) + 1)])
        for rack, nodes in groups.items()
    ]
    return shown, "nodes are numbered in their racks, for their names are too many"


def rack_of(node: NodeHistory, labels: Sequence[str]) -> str:
    """Return the rack of a node: by its place in a fleet of kwokctl, else by the last of these labels that it has."""
    place = place_of(node.place)
    found = next((place[level] for level in _RACKS if place.get(level)), "")
    by_label = (node.label(key) for key in reversed(labels))
    return found or next(filter(None, by_label), _NO_RACK)


def _groups(history: History, labels: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, node in sorted(history.fleet.node_of.items(), key=lambda item: _natural(item[0])):
        found.setdefault(rack_of(node, labels), []).append(name)
    return dict(sorted(found.items(), key=lambda item: _natural(item[0])))


def _natural(name: str) -> tuple[int, str]:
    """Return a key that puts `n-2` before `n-10`."""
    digits = name[len(name.rstrip("0123456789")) :]
    return (len(name) if digits else 0), name


def _transitions(history: History, places: Mapping[str, int]) -> list[Transition]:
    """Return all changes of the states of nodes, in the order of their times."""
    devices = devices_of(history)
    cells = {name: _Cell() for name in places}
    states = dict.fromkeys(places, ABSENT)
    found: list[Transition] = []
    for time, name, what in sorted(happenings(history), key=itemgetter(0)):
        cell = cells.get(name)
        if cell is None or time > history.end:
            continue  # a pod may be on a node that was never seen
        cell.apply(what)
        state = cell.state(devices)
        if state != states[name]:
            states[name] = state
            found.append(((time - history.begin) / SECOND, places[name], state))
    return found
