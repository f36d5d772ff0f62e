"""Reads the FaultSchedules of a cluster, and the faults that were suppressed."""

from collections.abc import Sequence

import msgspec

from kwokctl.clusters.faults.stored_faults import all_of
from kwokctl.config.nearest import did_you_mean
from kwokctl.errors import NotFoundError
from kwokctl.faults.storms.plan_pages import SuppressedFault, read_suppressed, suppressed_pages
from kwokctl.faults.storms.stored_schedule import StoredSchedule
from kwokctl.kube.client import Client
from kwokctl.kube.resource import FAULT_PAGES, FAULT_SCHEDULES

decode_schedule = msgspec.json.Decoder(StoredSchedule).decode


async def stored_schedules(client: Client, names: Sequence[str] = ()) -> list[StoredSchedule]:
    """Return the FaultSchedules of a cluster by name, or those that are named; none where the kind is not defined.

    Raises NotFoundError, with the nearest name, for one that does not exist.
    """
    each = all_of(client, FAULT_SCHEDULES, decode_schedule)
    found = {schedule.metadata.name: schedule async for schedule in each}
    for name in names:
        if name not in found:
            near = did_you_mean(name, sorted(found))
            known = f"there are: {', '.join(sorted(found))}" if found else "there are none"
            raise NotFoundError(f"there is no FaultSchedule '{name}'", hint=near or known)
    return [found[name] for name in dict.fromkeys(names or sorted(found))]


async def suppressed_of(
    client: Client, schedule: StoredSchedule, first: int = 0
) -> list[SuppressedFault]:
    """Return the faults of a schedule that were suppressed, in the order of the plan, without the `first` ones."""
    if schedule.status.suppressed <= first:
        return []
    meta = schedule.metadata
    found: list[SuppressedFault] = []
    for name, number in suppressed_pages(meta.name, meta.uid, first, schedule.status.suppressed):
        body = await client.find(FAULT_PAGES, None, name)
        rows = body["spec"].get("rows", ()) if body else ()
        found += map(read_suppressed, rows[max(first - number, 0) :])
    return found[: schedule.status.suppressed - first]
