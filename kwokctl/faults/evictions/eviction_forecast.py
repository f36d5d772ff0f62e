"""Forecasts which nodes are tainted and which pods evicted after nodes fell silent, by the rules of Kubernetes. Pure.

Two controllers act. The node lifecycle controller looks at all nodes every few seconds, sets Ready to Unknown where the
last sign of life is too old, and puts these nodes into the queue of their zone. It taints the nodes of a queue one after the
other with `node.kubernetes.io/unreachable:NoExecute`, as fast as the state of the zone permits. From its taint on, the
taint eviction controller leaves a pod there for as many seconds as it tolerates that.

Source: pkg/controller/nodelifecycle (ComputeZoneState, handleDisruption, setLimiterInZone; Try and SwapLimiter in
scheduler/rate_limited_queue.go) and pkg/controller/tainteviction of Kubernetes 1.36.

In a cluster it is by chance when each node last renewed its Lease, when the controller looks, and which node of the queue is next. Here the
last signs of life are spread evenly, the controller looks at the start, and nodes come in the order in which they are given. So a
time may be some `renewal` and `period` off, and a number of nodes one or two.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from math import ceil, inf

import msgspec

from kwokctl.faults.evictions.eviction_flags import EvictionFlags
from kwokctl.faults.evictions.taint_queue import TaintQueue
from kwokctl.faults.evictions.zone_states import (
    ZoneState,
    states_together,
    taint_rate,
    words,
    zone_state,
)

HOUR = 3600.0
_DEFAULTS = EvictionFlags()
Stays = Sequence[float | None]
"""The seconds that each pod of a node stays after the taint; None for ever."""


class ZoneOutlook(msgspec.Struct, frozen=True, kw_only=True):
    """A zone at the start: nodes with the same labels of zone and region."""

    name: str
    """Empty for the nodes without such labels, which are one zone together."""
    nodes: int
    silent: Sequence[Stays]
    """The pods of each node that falls silent."""
    unready: int = 0
    """The number of other nodes that are not Ready already."""


class ZoneForecast(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome for a zone; times are seconds after the start, ascending."""

    name: str
    nodes: int
    silent: int
    state: ZoneState
    """That in which it ends."""
    words: str
    """An explanation of the state, for people."""
    pods: int
    """The pods of the silent nodes."""
    tainted: tuple[float, ...]
    """The times at which nodes are tainted with NoExecute."""
    evicted: tuple[float, ...]
    """The times at which pods are deleted; on a silent node they stay then, as terminating ones."""


class EvictionForecast(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome for a cluster."""

    unknown_from: float
    """The earliest time at which Ready becomes Unknown for a silent node, in seconds after the start."""
    unknown_until: float
    """The latest time at which Ready becomes Unknown."""
    horizon: float
    """Seconds after the start; what happens later is left out."""
    zones: tuple[ZoneForecast, ...]

    def evicted_by(self, seconds: float) -> int:
        """Return how many pods are evicted until a time, in seconds after the start."""
        return sum(bisect_right(zone.evicted, seconds) for zone in self.zones)

    def tainted_by(self, seconds: float) -> int:
        """Return how many nodes are tainted until a time, in seconds after the start."""
        return sum(bisect_right(zone.tainted, seconds) for zone in self.zones)


def forecast(
    zones: Sequence[ZoneOutlook], flags: EvictionFlags = _DEFAULTS, *, horizon: float = HOUR
) -> EvictionForecast:
    """Return what happens until the horizon if some nodes of these zones fall silent now, and stay so."""
    at_work = [_Zone(each, flags) for each in zones if each.nodes]
    _look(at_work, 0.0)
    for now in sorted({time for zone in at_work for time in zone.unknown_at}):
        for zone in at_work:
            zone.advance(now)
        _look(at_work, now)
    for zone in at_work:
        zone.advance(inf)
    lost = ceil(flags.grace / flags.period) * flags.period
    return EvictionForecast(
        unknown_from=max(lost - flags.renewal, 0.0),
        unknown_until=lost + flags.period,
        horizon=horizon,
        zones=tuple(zone.result(horizon) for zone in at_work),
    )


def _look(zones: Sequence["_Zone"], now: float) -> None:
    """Let each zone get its new state; once all nodes of all zones are silent, taints are taken back."""
    states = states_together(
        zone_state(zone.outlook.nodes, zone.unready_at(now), zone.flags) for zone in zones
    )
    for zone, state in zip(zones, states, strict=True):
        zone.enter(state, now)


class _Zone:
    """A zone at work."""

    def __init__(self, outlook: ZoneOutlook, flags: EvictionFlags) -> None:
        self.outlook, self.flags = outlook, flags
        self.unknown_at = [*_unknown_at(len(outlook.silent), flags)]
        """The times at which the controller finds that a node is silent, ascending."""
        self._state: ZoneState = "normal"
        self._queue = TaintQueue(flags.rate)
        self._now = 0.0
        self._tainted: list[tuple[float, int]] = []
        self._evicted: list[float] = []

    def unready_at(self, now: float) -> int:
        """Return how many of its nodes are not Ready."""
        return self.outlook.unready + bisect_right(self.unknown_at, now)

    def advance(self, until: float) -> None:
        """Taint the nodes whose turn comes before a time, and let the silent ones wait that are found then."""
        self._tainted += self._queue.due(self._now, until)
        for node, time in enumerate(self.unknown_at):
            if time == until:
                self._queue.add(node)
        self._now = until

    def enter(self, state: ZoneState, now: float) -> None:
        """Take on a state, which may be the present one."""
        self._state = state
        self._queue.swap(taint_rate(state, self.outlook.nodes, self.flags), now)
        if state == "over":
            self._evicted += [time for time in self._evictions() if time <= now]
            self._tainted = []

    def _evictions(self) -> Iterator[float]:
        for time, node in self._tainted:
            yield from (time + stay for stay in self.outlook.silent[node] if stay is not None)

    def result(self, horizon: float) -> ZoneForecast:
        """Return what has happened up to the horizon."""
        evicted = sorted([*self._evicted, *self._evictions()])
        return ZoneForecast(
            name=self.outlook.name,
            nodes=self.outlook.nodes,
            silent=len(self.outlook.silent),
            state=self._state,
            words=words(self._state, self.outlook.nodes, self.flags),
            pods=sum(map(len, self.outlook.silent)),
            tainted=tuple(time for time, _ in self._tainted if time <= horizon),
            evicted=tuple(time for time in evicted if time <= horizon),
        )


def _unknown_at(silent: int, flags: EvictionFlags) -> Iterator[float]:
    """Yield when Ready becomes Unknown for each of some silent nodes, ascending.

    A look notices that a Lease was renewed, and the age of that sign of life counts from this look on.
    """
    for place in range(silent):
        renewed = -flags.renewal * (1 - (place + 0.5) / silent)
        noticed = ceil(renewed / flags.period) * flags.period
        yield ceil((noticed + flags.grace) / flags.period) * flags.period
