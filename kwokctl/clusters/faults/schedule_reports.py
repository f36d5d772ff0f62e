"""The schedules of a cluster: how far each is, and what was suppressed."""

from collections.abc import Callable, Sequence

import msgspec

from kwokctl.clusters.faults.reaching import FaultCluster, fault_cluster
from kwokctl.clusters.faults.stored_schedules import stored_schedules
from kwokctl.clusters.state.home import Home
from kwokctl.controller.faults.clock_keeper import ClockKeeper
from kwokctl.controller.known_faults.fault_clock import FaultClock
from kwokctl.expr.duration import format_seconds, parse_duration
from kwokctl.faults.storms.stored_schedule import OVER, StoredSchedule
from kwokctl.model import ClusterName


class ScheduleReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One schedule."""

    name: str
    uid: str
    phase: str
    planned: int
    injected: int
    suppressed: int
    suppressed_by: dict[str, int]
    nodes: int
    """The number of nodes on which faults may come."""
    late: int
    """The number of Faults that were made more than a second late."""
    latest: float
    """The largest of these delays, in seconds."""
    started: str
    """The time of day of its start; empty before that."""
    left: str
    """The time until its horizon is over, on the clock of faults; empty if it does not run."""
    created: str
    seed: int
    time_scale: float
    message: str
    """The thing that it waits for, and clocks that do not scale; empty if there is nothing to say."""


async def schedule_reports(
    home: Home, name: ClusterName, names: Sequence[str], wall: Callable[[], float]
) -> list[ScheduleReport]:
    """Return the schedules of a cluster, or those that are named; `wall` returns the time of day. NotFoundError, with the nearest name, for an unknown one."""
    async with fault_cluster(home, name) as cluster:
        return await reports_of(cluster, await stored_schedules(cluster.client, names), wall)


async def reports_of(
    cluster: FaultCluster, schedules: Sequence[StoredSchedule], wall: Callable[[], float]
) -> list[ScheduleReport]:
    """Return what is to be said of these schedules by now."""
    clock = FaultClock(wall)
    if any(each.status.start is not None for each in schedules):
        await ClockKeeper(cluster.client, clock, wall).read()
    return [_report(each, clock.now()) for each in schedules]


def _report(schedule: StoredSchedule, now: float) -> ScheduleReport:
    meta, spec, status = schedule.metadata, schedule.spec, schedule.status
    return ScheduleReport(
        name=meta.name,
        uid=meta.uid,
        phase=status.phase,
        planned=status.planned or 0,
        injected=status.injected,
        suppressed=status.suppressed,
        suppressed_by=status.suppressed_by,
        nodes=status.nodes,
        late=status.late,
        latest=status.latest,
        started=status.started_at,
        left=_left(schedule, now),
        created=meta.creation_timestamp,
        seed=spec.seed,
        time_scale=spec.time_scale,
        message="; ".join(filter(None, (status.message, _scale(spec.time_scale)))),
    )


def _left(schedule: StoredSchedule, now: float) -> str:
    status, spec = schedule.status, schedule.spec
    if status.start is None or status.phase in OVER:
        return ""
    left = status.start + parse_duration(spec.horizon) / spec.time_scale - now
    return format_seconds(int(max(left, 0.0)))


def _scale(scale: float) -> str:
    if scale == 1:
        return ""
    return f"timeScale {scale:g}: the clocks of Kubernetes and of your programs do not scale"
