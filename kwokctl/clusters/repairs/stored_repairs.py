"""Reads the Repairs of a cluster."""

from collections.abc import Sequence

import msgspec

from kwokctl.clusters.faults.reaching import fault_cluster
from kwokctl.clusters.faults.stored_faults import all_of
from kwokctl.clusters.state.home import Home
from kwokctl.expr.duration import parse_time
from kwokctl.faults.repairs.repair_schema import StoredRepair
from kwokctl.kube.client import Client
from kwokctl.kube.resource import REPAIR_POLICIES, REPAIRS
from kwokctl.model import ClusterName

_WAITS = "Pending"
"""The phase of a Repair that no controller has accepted."""


class RepairReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A Repair, as commands show it."""

    name: str
    node: str
    action: str
    phase: str
    trigger: str
    by: str
    policy: str
    created: str
    accepted_at: str
    started_at: str
    ended_at: str
    takes: float | None
    """Its length in seconds; None before it begins."""
    attempt: int
    cleared: tuple[str, ...]
    left: tuple[str, ...]
    asleep: tuple[str, ...]
    message: str

    def age(self, now: float) -> float:
        """Return the seconds since it was made; `now` is a POSIX time stamp."""
        return max(now - parse_time(self.created), 0.0) if self.created else 0.0


async def repair_reports(
    home: Home, name: ClusterName, nodes: Sequence[str] = ()
) -> list[RepairReport]:
    """Return the Repairs of a cluster, or those of the named nodes, in the order in which they were made; none where the kind is not defined."""
    async with fault_cluster(home, name) as cluster:
        found = [each async for each in all_of(cluster.client, REPAIRS, decode_repair.decode)]
    wanted = [each for each in found if not nodes or each.spec.node in nodes]
    in_order = sorted(wanted, key=lambda each: (each.metadata.creation_timestamp, each.name))
    return [repair_report(each) for each in in_order]


def repair_report(repair: StoredRepair) -> RepairReport:
    """Return a Repair as commands show it."""
    spec, status = repair.spec, repair.status
    cause = spec.cause
    return RepairReport(
        name=repair.name,
        node=spec.node,
        action=spec.action,
        phase=status.phase or _WAITS,
        trigger=status.trigger or (cause.trigger if cause is not None else "by-hand"),
        by=status.by or (cause.by if cause is not None else ""),
        policy=status.policy or spec.policy,
        created=repair.metadata.creation_timestamp,
        accepted_at=status.accepted_at,
        started_at=status.started_at,
        ended_at=status.ended_at,
        takes=status.takes,
        attempt=status.attempt,
        cleared=status.cleared,
        left=status.left,
        asleep=status.asleep,
        message=status.message,
    )


class _Metadata(msgspec.Struct):
    name: str


class _Named(msgspec.Struct):
    metadata: _Metadata


_named = msgspec.json.Decoder(_Named).decode


async def stored_policy_names(client: Client) -> list[str]:
    """Return the names of the RepairPolicies of a cluster."""
    return sorted([each.metadata.name async for each in all_of(client, REPAIR_POLICIES, _named)])


decode_repair = msgspec.json.Decoder(StoredRepair)
