"""The Faults of a cluster, and the number of units that show them."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing

import msgspec

from kwokctl.clusters.faults.reaching import fault_cluster
from kwokctl.clusters.faults.stored_faults import decode_fault, demand_known, stored_faults
from kwokctl.clusters.state.home import Home
from kwokctl.errors import ApiError, NotFoundError
from kwokctl.expr.duration import parse_time
from kwokctl.faults.objects.fault_schema import FailedUnit, StoredFault
from kwokctl.faults.repairs.repair_schema import REPAIR_LABEL
from kwokctl.json_value import Json
from kwokctl.kube.collections.watch import Event, EventType, watch
from kwokctl.kube.resource import FAULTS
from kwokctl.model import ClusterName
from kwokctl.replacing import replace

_NOT_THERE = 404


class FaultReport(msgspec.Struct, frozen=True, kw_only=True):
    """One Fault."""

    name: str
    uid: str
    class_name: str
    phase: str
    units: int
    landed: int
    failed: int
    repaired: int
    """The number of units on which a repair has ended it."""
    foreign: int
    left: str
    """The time until its end; empty if it has none, or was not injected."""
    created: str
    """The time of day when it was made."""
    seed: int
    dialects: tuple[str, ...]
    parameters: Mapping[str, Json]
    reproducible: bool
    failed_units: tuple[FailedUnit, ...]
    """Some of the units that cannot show it."""
    message: str
    """The problems that its conditions report; empty if there are none."""

    def age(self, now: float) -> float:
        """Return the seconds since it was made; `now` is a POSIX time stamp."""
        return max(now - parse_time(self.created), 0.0)


async def fault_reports(
    home: Home, name: ClusterName, names: Sequence[str] = ()
) -> list[FaultReport]:
    """Return the Faults of a cluster, or those that are named; NotFoundError, with the nearest name, for an unknown one."""
    async with fault_cluster(home, name) as cluster:
        return [_report(fault) for fault in await stored_faults(cluster.client, names)]


async def fault_changes(
    home: Home, name: ClusterName, names: Sequence[str] = ()
) -> AsyncGenerator[list[FaultReport], None]:
    """Yield the Faults, and then those that have changed, for ever; errors as `fault_reports`.

    One that is gone comes once more, with the phase `Deleted`. Raises NotFoundError if the cluster does not serve Faults.
    """
    async with fault_cluster(home, name) as cluster:
        demand_known(names, [each.metadata.name for each in await stored_faults(cluster.client)])
        batches = watch(cluster.client.pool, FAULTS, decoder=decode_fault.decode)
        known: dict[str, FaultReport] = {}
        async with aclosing(batches):
            try:
                async for events in batches:
                    if changed := _changed(events, names, known):
                        yield changed
            except ApiError as e:
                if e.status != _NOT_THERE:
                    raise
                raise NotFoundError(
                    "the cluster serves no Faults yet",
                    hint="inject one: kwokctl fault inject, or apply the kinds: "
                    "kwokctl create cluster --enable-crds Fault",
                ) from e


def _changed(
    events: Sequence[Event[StoredFault]], names: Sequence[str], known: dict[str, FaultReport]
) -> list[FaultReport]:
    """Return the last state of each Fault in a batch of events; `known` are those that exist, by uid."""
    found: dict[str, FaultReport] = {}
    for event in events:
        fault = event.object
        if fault is None or (names and fault.metadata.name not in names):
            continue
        uid = fault.metadata.uid
        if event.type is not EventType.DELETED:
            found[uid] = known[uid] = _report(fault)
        elif (last := known.pop(uid, None)) is not None:  # all that the event says may be its name
            found[uid] = replace(last, phase="Deleted", left="")
    return [*found.values()]


def _report(fault: StoredFault) -> FaultReport:
    meta, spec, status = fault.metadata, fault.spec, fault.status
    return FaultReport(
        name=meta.name,
        uid=meta.uid,
        class_name=spec.class_name,
        phase=status.phase,
        units=status.units,
        landed=status.landed,
        failed=status.failed,
        repaired=status.repaired,
        foreign=status.foreign,
        # What a node shows of its repair has a limit that it never reaches: the end of the repair deletes it.
        left="" if REPAIR_LABEL in (meta.labels or {}) else status.left,
        created=meta.creation_timestamp,
        seed=spec.seed,
        dialects=spec.dialects,
        parameters=spec.parameters,
        reproducible=status.reproducible,
        failed_units=status.failed_units,
        message=_message(fault),
    )


def _message(fault: StoredFault) -> str:
    """Return the messages of the conditions that report a problem."""
    bad = {"Selected": "False", "Landed": "False", "Stale": "True"}
    found = [each.message for each in fault.status.conditions if each.status == bad.get(each.type)]
    return "; ".join(dict.fromkeys(found))
