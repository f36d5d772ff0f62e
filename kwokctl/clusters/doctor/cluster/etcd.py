"""Whether etcd has room, and takes writes."""

from functools import partial

from kwokctl.clusters.capacity import FULL
from kwokctl.clusters.doctor.check import Check, DoctorFinding, Repair, Report, found
from kwokctl.clusters.doctor.cluster.patient import Patient
from kwokctl.clusters.overview.problems import of_etcd
from kwokctl.config.quantity import to_text
from kwokctl.etcd.kv.maintenance import NOSPACE, alarms, defragment, disarm, status
from kwokctl.model import ETCD


async def look(patient: Patient) -> Report:
    """Compare the size of its file with its quota, and ask for its alarms."""
    store = patient.seen.etcd
    if store is None:
        return Report(state="unknown")
    async with patient.etcd() as kv:
        raised = await alarms(kv)
    has_room = store.in_use <= FULL * store.quota
    make_room = Repair(
        what=f"Compacting and defragmenting etcd of '{patient.name}', and taking its alarm back",
        do=partial(_make_room, patient),
    )
    repair = make_room if has_room else None
    findings = [found(problem, repair) for problem in of_etcd(patient.seen)]
    if any(each.kind == NOSPACE for each in raised):
        findings.insert(0, _refusing(patient, repair))
    state = f"{to_text(store.size)} of {to_text(store.quota)}, {to_text(store.in_use)} in use"
    return Report(state=state, findings=tuple(findings))


def _refusing(patient: Patient, repair: Repair | None) -> DoctorFinding:
    command = f"{patient.command} etcdctl"
    remedy = f"delete objects, then {command} compact, {command} defrag, {command} alarm disarm"
    what = "etcd has reached its quota and refuses every write (alarm NOSPACE)"
    return DoctorFinding(what=what, remedy=remedy, repair=repair)


async def _make_room(patient: Patient) -> None:
    """Give back what is not in use, and let etcd write again."""
    async with patient.etcd() as kv:
        await kv.compact((await status(kv)).revision)
        await defragment(kv)
        for alarm in await alarms(kv):
            if alarm.kind == NOSPACE:
                await disarm(kv, alarm)


CHECK = Check(name="etcd", looks_at="its size, its quota and its alarms", look=look, needs=(ETCD,))
