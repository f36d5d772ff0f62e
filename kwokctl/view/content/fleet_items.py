"""The items about nodes: the map, how much is requested, and the nodes that need attention."""

import re
from collections.abc import Iterator

import msgspec

from kwokctl.measure.pages.page_data import (
    FleetFrame,
    FleetGroup,
    FleetItem,
    FleetState,
    LinesItem,
    PageLevel,
    TableCell,
    TableItem,
)
from kwokctl.measure.record.run_clock import SECOND
from kwokctl.view.content.items import Cells, lines_item, table_item
from kwokctl.view.content.words import amount_of, lasting, share
from kwokctl.view.state.seen_fleet import SeenFleet, SeenNodeState
from kwokctl.view.state.timeline import Timeline

MAP = "fleet-map"
_STATES = (
    FleetState(name="idle", level="neutral", code="."),
    FleetState(name="in use", level="good", code="o"),
    FleetState(name="full", level="good", code="#"),
    FleetState(name="cordoned", level="warning", code="c"),
    FleetState(name="open fault", level="bad", code="f"),
    FleetState(name="not Ready", level="bad", code="!"),
)
_NODES = 50
_TROUBLE = ("Node", "Rack", "State", ">Since", ">Pods", "Faults", "Taints")
_USE = ("Resource", ">Requested", ">Allocatable", ">Share")
_NUMBER = re.compile("([0-9]+)")
_CHARTED = 6
_RESOURCE_ORDER = ("cpu", "memory", "pods")


class FleetPatch(msgspec.Struct, frozen=True, kw_only=True):
    """The cells of the map that have changed, in the form of a frame."""

    id: str
    start: float
    """The time in seconds since the view began."""
    changes: list[tuple[int, str]]


class FleetMap:
    """The map: where each node is on it, and the state that was shown last."""

    def __init__(self, fleet: SeenFleet) -> None:
        self._fleet = fleet
        self._layout = -1
        self._groups: list[FleetGroup] = []
        self._places: dict[str, int] = {}
        self._shown: list[str] = []
        self._time = 0.0

    def lay_out(self, time: float) -> bool:
        """Place the nodes anew if some have come, gone or moved up to a time; return whether they have."""
        if self._layout == self._fleet.layouts:
            return False
        self._layout, self._time = self._fleet.layouts, time
        racks: dict[str, list[str]] = {}
        for name in self._fleet.nodes:
            racks.setdefault(self._fleet.places.get(name, ""), []).append(name)
        self._groups = [
            FleetGroup(name=rack or "nodes", nodes=sorted(racks[rack], key=_in_order))
            for rack in sorted(racks, key=_in_order)
        ]
        names = [name for group in self._groups for name in group.nodes]
        self._places = {name: place for place, name in enumerate(names)}
        self._shown = [self._code(self._fleet.nodes[name]) for name in names]
        self._fleet.changed.clear()
        return True

    def changes(self, time: float) -> FleetPatch | None:
        """Return the cells that have changed up to a time since they were shown; None if there are none."""
        found = [*self._changes()]
        self._time = time
        return FleetPatch(id=MAP, start=time, changes=found) if found else None

    def item(self) -> FleetItem:
        """Return the whole map."""
        frame = FleetFrame(changes=[*enumerate(self._shown)])
        return FleetItem(
            id=MAP,
            title="Nodes",
            note="A cell for each node.",
            groups=self._groups,
            states=_STATES,
            start=self._time,
            step=1,
            count=1,
            frames=[frame],
        )

    def _changes(self) -> Iterator[tuple[int, str]]:
        nodes, changed = self._fleet.nodes, self._fleet.changed
        for name in changed:
            place, node = self._places.get(name), nodes.get(name)
            if place is None or node is None:
                continue
            code = self._code(node)
            if self._shown[place] != code:
                self._shown[place] = code
                yield place, code
        changed.clear()

    def _code(self, node: SeenNodeState) -> str:
        fleet = self._fleet
        if not node.is_ready:
            return "!"
        if node.name in fleet.faults:
            return "f"
        if node.is_cordoned:
            return "c"
        if not fleet.pods_on(node.name):
            return "."
        return "#" if fleet.is_full(node) else "o"


class UseChart:
    """The share of the resources of all nodes that is requested, over the last minutes."""

    def __init__(self, fleet: SeenFleet, span: float) -> None:
        """Keep the last `span` seconds."""
        self._fleet = fleet
        self._span = span
        self._timeline = Timeline((), span)

    def record(self, time: float) -> None:
        """Record the present; the chart begins anew when the resources are other ones."""
        fleet = self._fleet
        names = _resources(fleet)[:_CHARTED]
        if self._timeline.names != tuple(names):
            self._timeline = Timeline(names, self._span)
        shares = [
            round(100 * fleet.requested[each] / whole, 2)
            if (whole := fleet.allocatable[each]) > 0
            else None
            for each in names
        ]
        self._timeline.record(time, shares)

    def item(self) -> LinesItem:
        """Return the chart."""
        return lines_item(self._timeline, "use-lines", "Requested of what nodes can give", "%")


def use_item(fleet: SeenFleet) -> TableItem:
    """Return what pods request of each resource of all nodes."""
    rows = []
    for name in _resources(fleet):
        requested, whole = fleet.requested[name], fleet.allocatable[name]
        rows.append((
            name, amount_of(name, requested), amount_of(name, whole), share(requested, whole)
        ))  # fmt: skip
    return table_item("use", "Requested by pods", _USE, rows)


def trouble_item(fleet: SeenFleet, time: int) -> TableItem:
    """Return the nodes that need attention, the worst first; `time` is in ns since the view began."""
    found = sorted(fleet.troubled(), key=lambda node: (node.is_ready, -node.since, node.name))
    rows = [_trouble(fleet, node, time) for node in found[:_NODES]]
    more = len(found) - len(rows)
    note = f"{more:,} more nodes are not listed." if more else ""
    if not rows:
        note = "All nodes are Ready, and none is cordoned or shows a fault."
    return table_item("trouble", "Nodes that need attention", _TROUBLE, rows, note=note)


def _trouble(fleet: SeenFleet, node: SeenNodeState, time: int) -> Cells:
    states = ["Ready" if node.is_ready else "not Ready"]
    states += ["cordoned"] if node.is_cordoned else []
    level: PageLevel = "warning" if node.is_ready else "bad"
    since = lasting((time - node.since) / SECOND)
    return (
        node.name,
        fleet.places.get(node.name, ""),
        TableCell(text=", ".join(states), level=level),
        f"> {since}" if node.was_so else since,
        f"{fleet.pods_on(node.name):,}",
        fleet.faults.get(node.name, ""),
        node.taints,
    )


def _resources(fleet: SeenFleet) -> list[str]:
    """Return the resources that nodes have: devices first."""
    found = [name for name, amount in fleet.allocatable.items() if amount > 0]
    devices = sorted(name for name in found if "/" in name)
    usual = [name for name in _RESOURCE_ORDER if name in found]
    return [*devices, *usual, *sorted({*found} - {*devices, *usual})]


def _in_order(name: str) -> list[tuple[int, str]]:
    """Return a key that sorts `node-10` behind `node-9`."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in _NUMBER.split(name)]
