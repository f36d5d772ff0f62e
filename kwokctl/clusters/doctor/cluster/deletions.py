"""Which nodes and namespaces have been deleted and do not go."""

from collections.abc import AsyncIterator

from kwokctl.clusters.doctor.check import Check, DoctorFinding, Report
from kwokctl.clusters.doctor.cluster.metadata import KnownMetadata, known_objects
from kwokctl.clusters.doctor.cluster.patient import Patient
from kwokctl.kube.client import Client
from kwokctl.kube.collections.paging import ListQuery
from kwokctl.kube.resource import NAMESPACES, NODES, Resource
from kwokctl.kube.transport.pool import Pool
from kwokctl.model import KUBE_APISERVER

_STUCK = 60.0
"""Seconds after which a deletion counts as stuck."""
_REMAINING = "Remaining"
_SHOWN = 5


async def look(patient: Patient) -> Report:
    """Look at the metadata of both kinds; of a namespace its conditions say what is left in it."""
    async with patient.api() as pool:
        stuck = {
            resource: [each async for each in _stuck(patient, pool, resource)]
            for resource in (NAMESPACES, NODES)
        }
        findings = [
            await _finding(patient, pool, resource, each)
            for resource, found in stuck.items()
            for each in found[:_SHOWN]
        ]
    count = sum(map(len, stuck.values()))
    return Report(state=f"{count} stuck" if count else "none is stuck", findings=tuple(findings))


async def _stuck(patient: Patient, pool: Pool, resource: Resource) -> AsyncIterator[KnownMetadata]:
    async for each in known_objects(pool, ListQuery(resource=resource)):
        if each.is_deleted_since(patient.wall() - _STUCK):
            yield each


async def _finding(
    patient: Patient, pool: Pool, resource: Resource, one: KnownMetadata
) -> DoctorFinding:
    kind = resource.kind.lower()
    what = f"the {kind} '{one.name}' was deleted and is still there"
    if one.finalizers:
        what += f": it has the finalizers {', '.join(one.finalizers)}"
        return DoctorFinding(
            what=what, remedy="see whether the controllers of these finalizers run"
        )
    left = await _left_in(pool, one.name) if resource == NAMESPACES else ""
    remedy = f"{patient.command} kubectl get {kind} {one.name} -o yaml"
    return DoctorFinding(what=f"{what}{left and f': {left}'}", remedy=remedy)


async def _left_in(pool: Pool, name: str) -> str:
    """Return what the namespace controller says is left in a namespace."""
    body = await Client(pool).find(NAMESPACES, None, name)
    conditions = ((body or {}).get("status") or {}).get("conditions") or ()
    return "; ".join(
        each.get("message", "")
        for each in conditions
        if each["status"] == "True" and each["type"].endswith(_REMAINING)
    )


CHECK = Check(
    name="deletions",
    looks_at="nodes and namespaces that do not go",
    look=look,
    needs=(KUBE_APISERVER,),
)
