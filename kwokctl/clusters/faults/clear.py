"""Clears faults: deletes the objects, and waits until no node shows them."""

from collections.abc import Collection, Iterable, Sequence
from contextlib import aclosing
from math import inf

import msgspec

from kwokctl.clusters.faults.reaching import FaultCluster, fault_cluster
from kwokctl.clusters.faults.stop_storm import remove_storm
from kwokctl.clusters.faults.stored_faults import stored_faults
from kwokctl.clusters.faults.stored_schedules import stored_schedules
from kwokctl.clusters.state.home import Home
from kwokctl.errors import ApiError, TimedOutError
from kwokctl.faults.objects.fault_schema import StoredFault
from kwokctl.faults.overlays.open_entries import OPEN_FAULTS, read_entries
from kwokctl.faults.storms.stored_schedule import StoredSchedule
from kwokctl.faults.storms.storm_faults import owning_schedule
from kwokctl.kube.client import Client
from kwokctl.kube.collections.watch import Event, EventType, watch
from kwokctl.kube.resource import FAULTS, NODES
from kwokctl.model import ClusterName
from kwokctl.tasks import for_each
from kwokctl.waits import Moved, Standstill, after, bounded

_GONE = (404, 409)
"""The status of a deletion of what is not there any more; with the second, another object has its name."""
_REQUESTS_TOGETHER = 32
_NAMED = 5


class ClearedFaults(msgspec.Struct, frozen=True, kw_only=True):
    """Faults that do not exist any more."""

    names: tuple[str, ...]
    schedules: tuple[str, ...] = ()
    """Schedules that do not exist any more either."""


class FaultsToClear(msgspec.Struct, frozen=True, kw_only=True):
    """The faults that are to be cleared."""

    names: Sequence[str] = ()
    """Of Faults; without any, and without a schedule, all Faults and schedules."""
    schedule: str = ""
    """The schedule whose Faults are to be cleared, with itself."""
    if_there: bool = False
    """Whether names of Faults that do not exist, or no longer, are no error."""
    wait: float | Standstill | None = None
    """Seconds until no node may show them; None not to wait."""
    only_look: bool = False


async def clear(
    home: Home,
    name: ClusterName,
    request: FaultsToClear,
) -> ClearedFaults:
    """Delete Faults, and with all of them, or those of a schedule, also the schedules: they would bring further ones.

    Raises NotFoundError, with the nearest name, before anything is deleted, and TimedOutError if nodes still show some after `wait` seconds.
    """
    async with fault_cluster(home, name) as cluster:
        schedules = await _schedules(cluster, request)
        faults = await _faults(cluster, request, schedules)
        if not request.only_look:
            for each in schedules:
                await remove_storm(cluster.client, each)
            if schedules:  # until then it may have brought others; some may be gone with it
                faults = _united(faults, await _faults(cluster, request, schedules))
            await for_each(
                faults, lambda each: delete(cluster.client, each), at_once=_REQUESTS_TOGETHER
            )
            if request.wait is not None and faults:
                await _gone(cluster, {each.metadata.uid for each in faults}, request.wait)
    return ClearedFaults(
        names=tuple(each.metadata.name for each in faults),
        schedules=tuple(each.metadata.name for each in schedules),
    )


async def _schedules(cluster: FaultCluster, request: FaultsToClear) -> list[StoredSchedule]:
    if request.schedule:
        return await stored_schedules(cluster.client, [request.schedule])
    return [] if request.names else await stored_schedules(cluster.client)


def _united(one: Iterable[StoredFault], other: Iterable[StoredFault]) -> list[StoredFault]:
    """Return the Faults of both, each once, by name."""
    found = {each.metadata.uid: each for each in (*one, *other)}
    return sorted(found.values(), key=lambda each: each.metadata.name)


async def _faults(
    cluster: FaultCluster, request: FaultsToClear, schedules: Sequence[StoredSchedule]
) -> list[StoredFault]:
    if request.if_there:
        return [
            each
            for each in await stored_faults(cluster.client)
            if each.metadata.name in request.names
        ]
    found = await stored_faults(cluster.client, request.names)
    if not request.schedule:
        return found
    uids = {each.metadata.uid for each in schedules}
    owned = ((each, owning_schedule(each.metadata)) for each in found)
    return [fault for fault, owner in owned if owner is not None and owner.uid in uids]


async def delete(client: Client, fault: StoredFault) -> None:
    """Delete a Fault; one that is gone, also if another has its name now, is no error."""
    body = msgspec.json.encode({"preconditions": {"uid": fault.metadata.uid}})
    try:
        await client.call("DELETE", FAULTS.path(None, fault.metadata.name), body)
    except ApiError as e:
        if e.status not in _GONE:  # another client, or the garbage collector, was first
            raise


class _Metadata(msgspec.Struct, gc=False):
    name: str
    annotations: dict[str, str] | None = None


class _Node(msgspec.Struct, gc=False):
    metadata: _Metadata


_node = msgspec.json.Decoder(_Node).decode


class _Showing:
    """The nodes that show some faults, as far as a watch has said."""

    def __init__(self, uids: Collection[str]) -> None:
        self._uids = uids
        self.is_whole = False
        """Whether all nodes were seen."""
        self.nodes: set[str] = set()

    def note(self, event: Event[_Node]) -> None:
        if event.object is None:
            self.is_whole = True
            return
        meta = event.object.metadata
        entries = read_entries((meta.annotations or {}).get(OPEN_FAULTS, ""))
        shows = any(each.uid in self._uids for each in entries)
        if shows and event.type is not EventType.DELETED:
            self.nodes.add(meta.name)
        else:
            self.nodes.discard(meta.name)


async def _gone(cluster: FaultCluster, uids: Collection[str], seconds: float) -> None:
    """Wait until no node shows these faults; errors as `clear`."""
    showing = _Showing(uids)
    try:
        with cluster.home.progress.step("Waiting until no node shows them", unit="nodes"):
            async with bounded(seconds) as moved:
                await _follow(cluster, showing, moved)
    except TimeoutError:
        raise TimedOutError(
            f"{after(seconds)} {_lack(showing)}",
            hint="the controller that holds a node takes them back: see whether it runs, and its log",
        ) from None


async def _follow(cluster: FaultCluster, showing: _Showing, moved: Moved) -> None:
    """Return when no node shows the faults."""
    least = inf
    batches = watch(cluster.client.pool, NODES, decoder=_node)
    async with aclosing(batches):
        async for events in batches:
            for event in events:
                showing.note(event)
            if showing.is_whole and len(showing.nodes) < least:
                least = len(showing.nodes)
                moved()
            if not least:
                return


def _lack(showing: _Showing) -> str:
    if not showing.is_whole:
        return "the API server has not listed nodes"
    names = sorted(showing.nodes)
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"these nodes still show them: {', '.join(names[:_NAMED])}{more}"
