"""Adds up the nodes of a fleet by their places: zones, switches and racks. Pure."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

PLACE = "kwokctl.dev/place"
"""The annotation with the place of a node."""
SHAPE = "kwokctl.dev/shape"
"""The label with the shape of a node."""
LEVELS = ("zone", "core", "spine", "leaf", "rack")
"""The levels of the tree from the top; a node may lack some."""
NOWHERE = "without a place"
"""The unit of nodes that say nothing of their place."""


class DeviceCounts(msgspec.Struct, kw_only=True):
    """The number of devices of one resource."""

    capacity: int = 0
    allocatable: int = 0
    """Those that are healthy."""
    allocated: int = 0
    """Those that pods request which have not ended."""

    @property
    def unhealthy(self) -> int:
        """The devices that a node has and does not offer."""
        return self.capacity - self.allocatable


class FleetNode(msgspec.Struct, frozen=True, kw_only=True):
    """A node: its place, its state and its devices."""

    name: str
    shape: str
    """Empty for one that is of no shape."""
    place: Mapping[str, str]
    """Its unit of each level."""
    is_ready: bool
    is_cordoned: bool
    devices: Mapping[str, DeviceCounts]


class FleetUnit(msgspec.Struct, kw_only=True):
    """A unit and all that is in it."""

    name: str
    level: str
    nodes: int = 0
    ready: int = 0
    cordoned: int = 0
    shapes: dict[str, int] = msgspec.field(default_factory=dict)
    """The number of nodes of each shape."""
    devices: dict[str, DeviceCounts] = msgspec.field(default_factory=dict)
    units: dict[str, "FleetUnit"] = msgspec.field(default_factory=dict)
    """The units of the next level, by name."""

    def add(self, node: FleetNode) -> None:
        """Count a node."""
        self.nodes += 1
        self.ready += node.is_ready
        self.cordoned += node.is_cordoned
        if node.shape:
            self.shapes[node.shape] = self.shapes.get(node.shape, 0) + 1
        for resource, counts in node.devices.items():
            total = self.devices.setdefault(resource, DeviceCounts())
            total.capacity += counts.capacity
            total.allocatable += counts.allocatable
            total.allocated += counts.allocated

    def below(self, level: str, name: str) -> "FleetUnit":
        """Return a unit of the next level."""
        return self.units.setdefault(name, FleetUnit(name=name, level=level))


def place_of(text: str) -> Mapping[str, str]:
    """Return the units of the annotation of a place: `rack=dgx-rack-0003,leaf=…`."""
    pairs = (part.partition("=") for part in text.split(","))
    return {level: name for level, _, name in pairs if name}


def fleet_tree(nodes: Iterable[FleetNode]) -> FleetUnit:
    """Return the whole fleet, with the units of all levels in it."""
    whole = FleetUnit(name="", level="")
    for node in nodes:
        whole.add(node)
        unit = whole
        for level in _levels(node):
            unit = unit.below(level, node.place.get(level, NOWHERE))
            unit.add(node)
    return whole


def _levels(node: FleetNode) -> Sequence[str]:
    found = [level for level in LEVELS if level in node.place]
    return found or LEVELS[:1]
