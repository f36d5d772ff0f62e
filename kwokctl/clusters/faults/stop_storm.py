"""Stops a schedule of faults, or removes it with its faults."""

from urllib.parse import quote

import msgspec

from kwokctl.clusters.faults.reaching import fault_cluster
from kwokctl.clusters.faults.stored_schedules import stored_schedules
from kwokctl.clusters.state.home import Home
from kwokctl.errors import ApiError
from kwokctl.faults.storms.stored_schedule import OVER, SCHEDULE_LABEL, StoredSchedule
from kwokctl.kube.client import Client, PatchType
from kwokctl.kube.resource import FAULT_PAGES, FAULT_SCHEDULES
from kwokctl.model import ClusterName

_NOT_THERE, _OF_ANOTHER = 404, 409
"""The status of a deletion of what is not there any more; with the second, another object has its name."""


class StoppedStorm(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule that brings no further faults."""

    name: str
    phase: str
    """As it was before."""
    planned: int
    injected: int
    suppressed: int
    changed: bool
    """Whether it was not over before."""


async def stop_storm(home: Home, name: ClusterName, schedule: str) -> StoppedStorm:
    """Let no further faults of a schedule come; NotFoundError, with the nearest name, if there is none of this name."""
    async with fault_cluster(home, name) as cluster:
        [found] = await stored_schedules(cluster.client, [schedule])
        status = found.status
        is_open = status.phase not in OVER
        if is_open:
            path = FAULT_SCHEDULES.path(None, schedule)
            patch = {"metadata": {"uid": found.metadata.uid}, "spec": {"stop": True}}
            body = msgspec.json.encode(patch)
            await cluster.client.call("PATCH", path, body, content_type=PatchType.MERGE)
    return StoppedStorm(
        name=schedule,
        phase=status.phase,
        planned=status.planned or 0,
        injected=status.injected,
        suppressed=status.suppressed,
        changed=is_open,
    )


async def remove_storm(client: Client, schedule: StoredSchedule) -> None:
    """Delete a schedule with its pages; its Faults are for others to delete, and no further ones come."""
    meta = schedule.metadata
    body = msgspec.json.encode({"preconditions": {"uid": meta.uid}})
    try:
        await client.call("DELETE", FAULT_SCHEDULES.path(None, meta.name), body)
    except ApiError as e:
        if e.status == _OF_ANOTHER:
            # The garbage collector deletes its pages; those that have its label may be of the other.
            return
        if e.status != _NOT_THERE:  # another client was first
            raise
    selector = quote(f"{SCHEDULE_LABEL}={meta.name}")
    await client.call("DELETE", f"{FAULT_PAGES.path()}?labelSelector={selector}")
