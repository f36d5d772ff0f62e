"""Whether etcd has room, and takes writes."""

from functools import partial

from kwokctl.clusters.capacity import FULL
from kwokctl.clusters.doctor.check import Check, DoctorFinding, Repair, Report, found, not_made
from kwokctl.clusters.doctor.cluster.checked_cluster import CheckedCluster
from kwokctl.clusters.overview.problems import of_etcd
from kwokctl.config.quantity import to_text
from kwokctl.errors import CapacityError
from kwokctl.etcd.kv.maintenance import NOSPACE, alarms, defragment, disarm, status


async def look(checked: CheckedCluster) -> Report:
    """Compare the size of its file with its quota, and ask for its alarms."""
    store = checked.seen.etcd
    if store is None:
        return not_made("not checked: it does not answer")
    async with checked.etcd() as kv:
        raised = await alarms(kv)
    repair = Repair(
        what=f"Compacting and defragmenting etcd of '{checked.name}', and clearing its alarm",
        do=partial(_make_room, checked, store.quota),
    )
    findings = [found(problem, repair) for problem in of_etcd(checked.seen)]
    if any(each.kind == NOSPACE for each in raised):
        findings.insert(0, _refusing(checked, repair))
    state = f"{to_text(store.size)} of {to_text(store.quota)}, {to_text(store.in_use)} in use"
    return Report(state=state, findings=tuple(findings))


def _refusing(checked: CheckedCluster, repair: Repair) -> DoctorFinding:
    remedy = f"delete objects, then {checked.command} doctor --fix"
    what = "etcd has reached its quota and refuses every write (alarm NOSPACE)"
    return DoctorFinding(what=what, remedy=remedy, repair=repair)


async def _make_room(checked: CheckedCluster, quota: int) -> None:
    """Give back what was overwritten or deleted, and let etcd write again if that leaves room.

    How much that is cannot be known before: what is deleted is in use until etcd compacts it.
    """
    async with checked.etcd() as kv:
        await kv.compact((await status(kv)).revision)
        await defragment(kv)
        size = (await status(kv)).db_size
        if quota and size > FULL * quota:
            raise CapacityError(
                f"{to_text(size)} are in use, {size / quota:.0%} of the quota: delete objects first"
            )
        for alarm in await alarms(kv):
            if alarm.kind == NOSPACE:
                await disarm(kv, alarm)


# It needs no etcd that is ready: one with an alarm is not.
CHECK = Check(name="etcd", looks_at="its size, its quota and its alarms", look=look)
