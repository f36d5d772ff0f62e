"""The log of faults of a cluster: the truth with which detectors and remedies are judged."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence

import msgspec

from kwokctl.clusters.faults.reaching import FaultCluster, fault_cluster
from kwokctl.clusters.faults.stored_faults import definitions_of, rows_of, stored_faults
from kwokctl.clusters.faults.stored_schedules import stored_schedules, suppressed_of
from kwokctl.clusters.state.home import Home
from kwokctl.controller.faults.clock_keeper import ClockKeeper
from kwokctl.controller.known_faults.fault_clock import FaultClock
from kwokctl.errors import RequestError
from kwokctl.expr.duration import parse_time
from kwokctl.faults.classes.message_texts import HitNode
from kwokctl.faults.objects.fault_schema import StoredFault
from kwokctl.faults.overlays.node_fields import facts_of, fields_of
from kwokctl.faults.overlays.overlay import overlay
from kwokctl.faults.storms.suppressed_truth import suppressed_entry
from kwokctl.faults.truth.fault_truth import (
    Happening,
    KnownFault,
    TruthEntry,
    cleared_by_deletion,
    happenings,
    truth,
)
from kwokctl.fleet.devices import gpus
from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.kube.collections.paging import ListQuery, list_from_cache
from kwokctl.kube.resource import NODES
from kwokctl.model import ClusterName
from kwokctl.retry import may_pass

_PAUSE = 1.0
"""Seconds between two looks of a log that is followed."""
_TRIES = 60
"""So many looks in turn may fail, if the next one may succeed, before a log is followed no further."""
_node = msgspec.json.Decoder(dict[str, Json]).decode


class LogBatch(msgspec.Struct, frozen=True, kw_only=True):
    """New lines of the log, and the nodes of the cluster at that time."""

    happenings: Sequence[Happening]
    nodes: Mapping[str, HitNode]
    """The nodes that exist, by name."""

    @property
    def entries(self) -> list[TruthEntry]:
        """The lines of the log."""
        return [each.entry for each in self.happenings]


async def fault_log(
    home: Home, name: ClusterName, names: Sequence[str], wall: Callable[[], float]
) -> list[TruthEntry]:
    """Return what happened to the units of Faults by now, fault after fault in the order of their starts.

    Without names, of all that exist. `wall` returns the time of day. Raises NotFoundError, with the nearest name, for an unknown one.
    """
    async with fault_cluster(home, name) as cluster:
        known = await _Reader(cluster, names, wall).known(
            await stored_faults(cluster.client, names)
        )
        entries = [entry for each in known for entry in truth(each)]
        suppressed = _Suppressed(cluster.client) if not names else None
        return [*entries, *(await suppressed.new() if suppressed else ())]


async def fault_log_lines(
    home: Home, name: ClusterName, names: Sequence[str], wall: Callable[[], float]
) -> AsyncIterator[LogBatch]:
    """Yield what happened by now, and then what happens, for ever; errors as `fault_log`.

    A Fault that is deleted meanwhile has its ends there, too. An API server that is started again is waited for.
    """
    async with fault_cluster(home, name) as cluster:
        await stored_faults(cluster.client, names)
        reader = _Reader(cluster, names, wall)
        suppressed = _Suppressed(cluster.client)
        seen: set[TruthEntry] = set()
        before: dict[str, KnownFault] = {}
        tries = 0
        while True:
            try:
                known = await reader.known(await stored_faults(cluster.client))
                left_out = [] if names else await suppressed.new()
            except RequestError as e:
                tries += 1
                if tries == _TRIES or not may_pass(e):
                    raise
                await asyncio.sleep(_PAUSE)
                continue
            tries = 0
            found = {each.fault.metadata.uid: each for each in known}
            gone = [before[uid] for uid in before.keys() - found.keys()]
            ended = [end for each in gone for end in cleared_by_deletion(each, wall())]
            before = found
            happened = [*ended, *(each for one in known for each in happenings(one))]
            happened += [Happening(entry=each) for each in left_out]
            new = [each for each in happened if each.entry not in seen]
            seen.update(each.entry for each in new)
            if new:
                yield LogBatch(happenings=new, nodes=reader.nodes)
            await asyncio.sleep(_PAUSE)


class _Suppressed:
    """Reads the faults of schedules that were suppressed, each once."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._read: dict[str, int] = {}
        """The number of those that were read, by the uid of the schedule."""

    async def new(self) -> list[TruthEntry]:
        """Return those that are new."""
        found: list[TruthEntry] = []
        read: dict[str, int] = {}
        for schedule in await stored_schedules(self._client):
            meta = schedule.metadata
            some = await suppressed_of(self._client, schedule, self._read.get(meta.uid, 0))
            read[meta.uid] = self._read.get(meta.uid, 0) + len(some)
            found += [suppressed_entry(meta.name, each) for each in some]
        self._read = read  # only now: what could not be read is read again
        return found


class _Reader:
    """Reads what the log is computed from; nodes only once, unless there are new ones."""

    def __init__(
        self, cluster: FaultCluster, names: Sequence[str], wall: Callable[[], float]
    ) -> None:
        self._cluster = cluster
        self._names = frozenset(names)
        self._wall = wall
        self._counts: dict[str, int] = {}
        """The number of GPUs by node, without what faults show; 0 for a node that is gone."""
        self.nodes: dict[str, HitNode] = {}
        """The nodes by name, without what faults show."""

    async def known(self, found: Sequence[StoredFault]) -> list[KnownFault]:
        """Return those of some Faults that are wanted, and have begun, in the order of their starts."""
        client = self._cluster.client
        faults = [each for each in found if self._is_wanted(each)]
        if not faults:
            return []
        rows, definitions = await rows_of(client, faults), await definitions_of(client, faults)
        await self._know({row.unit.node for some in rows.values() for row in some})
        clock = FaultClock(self._wall)
        await ClockKeeper(client, clock, self._wall).read()
        return [
            KnownFault(
                fault=fault,
                definition=definitions.get(fault.status.definition),
                rows=rows[fault.metadata.uid],
                gpus=self._counts,
                age=clock.now() - (fault.status.clock or 0.0),
            )
            for fault in sorted(faults, key=_started)
        ]

    def _is_wanted(self, fault: StoredFault) -> bool:
        is_named = not self._names or fault.metadata.name in self._names
        return is_named and fault.status.clock is not None

    async def _know(self, names: set[str]) -> None:
        """Read the nodes if some of these are not known."""
        if names <= self._counts.keys():
            return
        query = ListQuery(resource=NODES)
        async for page in list_from_cache(self._cluster.client.pool, query):
            for raw in page.objects:
                node = overlay(_node(raw), (), 0.0)
                facts = facts_of(node, fields_of(node))
                self.nodes[facts.name] = facts
                self._counts[facts.name] = len(gpus(facts.name, facts.labels, facts.capacity))
        self._counts = {**dict.fromkeys(names, 0), **self._counts}


def _started(fault: StoredFault) -> tuple[float, str]:
    return parse_time(
        fault.status.injected_at or fault.metadata.creation_timestamp
    ), fault.metadata.name
