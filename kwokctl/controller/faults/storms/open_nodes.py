"""The nodes that open faults of one schedule hit, for its limits."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from math import floor

import msgspec

from kwokctl.controller.known_faults.open_faults import OpenFaults
from kwokctl.faults.objects.fault_schema import StoredFault
from kwokctl.faults.storms.plan_pages import Reason
from kwokctl.faults.storms.schedule_schema import StormLimits

_OVER = frozenset({"Cleared", "Refused"})
UNSEEN = 60.0
"""Seconds after which a Fault that no watch has shown is taken to be gone."""


class _Made(msgspec.Struct):
    """A Fault that was made, and what it hits."""

    nodes: Mapping[str, str]
    """The racks of its nodes by their names; empty for a node without a place."""
    at: float
    """The time at which it was made."""
    is_seen: bool = False


def most_open(limits: StormLimits, nodes: int) -> int | None:
    """Return the most nodes with open faults, of a number of nodes; None without a limit. A share is rounded down, and at least one."""
    given = limits.max_open
    if isinstance(given, str):
        return max(floor(nodes * float(given.removesuffix("%")) / 100), 1)
    return given


class OpenNodes:
    """The nodes that open faults of one schedule hit."""

    def __init__(
        self, faults: OpenFaults, limits: StormLimits, nodes: int, now: Callable[[], float]
    ) -> None:
        """Look at `faults`; `nodes` is the number of those on which faults may come, `now` a clock."""
        self._faults = faults
        self._most = most_open(limits, nodes)
        self._per_rack = limits.per_rack
        self._now = now
        self._made: dict[str, _Made] = {}
        """By the uid of the Fault."""

    @property
    def are_limited(self) -> bool:
        """Whether there is a limit at all."""
        return self._most is not None or self._per_rack is not None

    def add(self, uid: str, nodes: Mapping[str, str]) -> None:
        """Note a Fault that was made; `nodes` are the racks of its nodes by their names."""
        if self.are_limited:
            self._made[uid] = _Made(nodes, self._now())

    def problem(self, nodes: Mapping[str, str]) -> Reason | None:
        """Return which limit a fault on these nodes would exceed; None if it may come."""
        if not self.are_limited:
            return None
        hit = self._hit()
        new = {name: rack for name, rack in nodes.items() if name not in hit}
        if not new:
            return None
        if self._most is not None and len(hit) + len(new) > self._most:
            return "Limit"
        if self._per_rack is not None:
            most = self._per_rack
            counts = Counter(_racks(hit.values())) + Counter(_racks(new.values()))
            if any(counts[rack] > most for rack in _racks(new.values())):
                return "Rack"
        return None

    def _hit(self) -> dict[str, str]:
        """Return the nodes that are hit now, and forget what is over."""
        self._made = {uid: made for uid, made in self._made.items() if self._is_open(uid, made)}
        return {name: rack for made in self._made.values() for name, rack in made.nodes.items()}

    def _is_open(self, uid: str, made: _Made) -> bool:
        fault = self._faults.faults.get(uid)
        if fault is None:
            return not made.is_seen and self._now() - made.at < UNSEEN
        made.is_seen = True
        return may_be_open(self._faults, fault)


def may_be_open(faults: OpenFaults, fault: StoredFault) -> bool:
    """Return whether a Fault is open, or waits for being injected."""
    if fault.status.clock is not None:
        return faults.is_open(fault.metadata.uid)
    return fault.status.phase not in _OVER and fault.metadata.deletion_timestamp is None


def _racks(names: Iterable[str]) -> list[str]:
    return [name for name in names if name]
