"""The properties of a node that decide which pods it takes, and those that its kubelet reports.

Pressures have the conditions and messages of kubelet 1.36 (pkg/kubelet/nodestatus/setters.go).
"""

from functools import lru_cache
from typing import NamedTuple

import msgspec

from kwokctl.faults.overlays.open_entries import OpenEntry, read_entries

DOWN = "node-not-ready.stage.kwok.x-k8s.io"
"""The label of the Stage `node-not-ready`: the kubelet of a node that has it, and is not Ready, is down."""


class NodeFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Kept as JSON: there may be a hundred thousand nodes, and few pods ask."""

    labels: bytes = b"{}"
    allocatable: bytes = b"{}"
    capacity: bytes = b""
    lacks: bool = False
    """Whether its capacity has a resource that is not allocatable."""
    taints: tuple[tuple[str, str], ...] = ()
    """Key and value of those with the effect NoExecute."""
    operating_system: str = "linux"
    pressure: str = ""
    """The annotation that says what it is short of."""
    device_health: str = ""
    """The annotation that says which of its devices are not healthy."""
    device_inventory: str = ""
    """The annotation that says how many it has if all is well."""
    place: str = ""
    """The annotation that says where it is in the fleet."""
    dra_drivers: str = ""
    """The annotation that says for which drivers of claimed devices the controller stands in."""
    open_faults: str = ""
    """The annotation that says which faults it shows."""
    faulty_version: str = ""
    """The resourceVersion of a node that shows faults, so that each of its changes is noticed; else empty."""
    conditions: tuple[str, ...] = ()
    """The types of its conditions that are True."""
    reported: tuple[str, ...] = ()
    """Those of them that are a pressure in the words of a kubelet."""
    shown: frozenset[str] = frozenset()
    """The types of conditions that faults show."""

    @property
    def faults(self) -> tuple[OpenEntry, ...]:
        """The faults that it shows."""
        return read_entries(self.open_faults)


NO_FACTS = NodeFacts()


class Pressure(NamedTuple):
    """The condition that a kubelet reports while its node is short of a resource, and afterwards."""

    word: str
    """Its name in the annotation."""
    condition: str
    reason: str
    message: str
    event: str
    """The reason of its Event."""
    relief: str
    """That of the Event when it is over."""


PRESSURES = (
    Pressure(
        word="memory",
        condition="MemoryPressure",
        reason="KubeletHasInsufficientMemory",
        message="kubelet has insufficient memory available",
        event="NodeHasInsufficientMemory",
        relief="NodeHasSufficientMemory",
    ),
    Pressure(
        word="disk",
        condition="DiskPressure",
        reason="KubeletHasDiskPressure",
        message="kubelet has disk pressure",
        event="NodeHasDiskPressure",
        relief="NodeHasNoDiskPressure",
    ),
    Pressure(
        word="pid",
        condition="PIDPressure",
        reason="KubeletHasInsufficientPID",
        message="kubelet has insufficient PID available",
        event="NodeHasInsufficientPID",
        relief="NodeHasSufficientPID",
    ),
)
REASONS = frozenset(each.reason for each in PRESSURES)


def pressures_of(facts: NodeFacts) -> tuple[str, ...]:
    """Return the conditions of pressure that a node has, or that its annotation gives it."""
    return _either(facts.pressure, facts.conditions)


@lru_cache(maxsize=64)
def annotated(text: str) -> frozenset[str]:
    """Return the conditions of pressure that an annotation gives a node."""
    words = {word.strip() for word in text.split(",")}
    return frozenset(each.condition for each in PRESSURES if each.word in words)


@lru_cache(maxsize=64)
def _either(text: str, conditions: tuple[str, ...]) -> tuple[str, ...]:
    found = annotated(text).union(conditions)
    return tuple(each.condition for each in PRESSURES if each.condition in found)
