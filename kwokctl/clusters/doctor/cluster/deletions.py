"""Finds deleted objects that still exist, of any kind but pods, which have a check of their own."""

from kwokctl.clusters.doctor.check import Check, DoctorFinding, Report
from kwokctl.clusters.doctor.cluster.checked_cluster import CheckedCluster
from kwokctl.clusters.objects.metadata import KnownMetadata, known_objects
from kwokctl.errors import ApiError
from kwokctl.kube.client import Client
from kwokctl.kube.collections.paging import ListQuery
from kwokctl.kube.resource import NAMESPACES, Resource
from kwokctl.kube.served_kinds import ServedKinds, served_kinds
from kwokctl.kube.transport.pool import Pool
from kwokctl.model import KUBE_APISERVER

_STUCK = 60.0
"""Seconds after which a deletion counts as stuck."""
_REMAINING = "Remaining"
_SHOWN = 5
"""The most objects of a kind that are named."""
_NOT_LOOKED_AT = frozenset(
    {("", "pods"), ("", "events"), ("events.k8s.io", "events"), ("coordination.k8s.io", "leases")}
)
"""Groups and plurals of the most frequent kinds; all but pods are deleted at once."""
_AWAY = frozenset({403, 404, 405, 503})


async def look(checked: CheckedCluster) -> Report:
    """Look at the metadata of all kinds; of a namespace its conditions say what is left in it."""
    async with checked.api() as pool:
        kinds = _kinds(await served_kinds(Client(pool)))
        stuck = {resource: await _stuck(checked, pool, resource) for resource in kinds}
        findings = [
            await _finding(checked, pool, resource, each)
            for resource, found in stuck.items()
            for each in found[:_SHOWN]
        ]
    count = sum(map(len, stuck.values()))
    return Report(state=f"{count} stuck" if count else "none is stuck", findings=tuple(findings))


def _kinds(served: ServedKinds) -> list[Resource]:
    """Return each kind whose objects can be deleted, but those that are most frequent."""
    deletable = served.with_verbs("list", "delete")
    return [each for each in deletable if (each.group, each.plural) not in _NOT_LOOKED_AT]


async def _stuck(checked: CheckedCluster, pool: Pool, resource: Resource) -> list[KnownMetadata]:
    """Return those of a kind; none of one that is gone meanwhile, or whose own server is away."""
    since = checked.wall() - _STUCK
    objects = known_objects(pool, ListQuery(resource=resource))
    try:
        return [each async for each in objects if each.is_deleted_since(since)]
    except ApiError as e:
        if e.status in _AWAY:
            return []
        raise


async def _finding(
    checked: CheckedCluster, pool: Pool, resource: Resource, one: KnownMetadata
) -> DoctorFinding:
    kind = resource.kind.lower()
    within = f" in '{one.namespace}'" if resource.namespaced else ""
    what = f"the {kind} '{one.name}'{within} was deleted and still exists"
    if one.finalizers:
        what += f": it has the finalizers {', '.join(one.finalizers)}"
        return DoctorFinding(
            what=what, remedy="see whether the controllers of these finalizers run"
        )
    left = await _left_in(pool, one.name) if resource == NAMESPACES else ""
    name = f"{one.name} -n {one.namespace}" if resource.namespaced else one.name
    remedy = f"{checked.command} kubectl get {_word(resource)} {name} -o yaml"
    return DoctorFinding(what=f"{what}{left and f': {left}'}", remedy=remedy)


def _word(resource: Resource) -> str:
    """Return how the kind is given to kubectl: by its name alone only where no other has that."""
    return f"{resource.plural}.{resource.group}" if resource.group else resource.kind.lower()


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
    looks_at="objects that still exist after their deletion",
    look=look,
    needs=(KUBE_APISERVER,),
)
