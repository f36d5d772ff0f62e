"""Finds pods that wait, that still exist after their deletion, or whose nodes are gone.

Pods are looked at as rows of a table of names, in pages; only of those that are wrong the metadata is
read, of some. So a hundred thousand pods that are well cost their names.
"""

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator
from functools import partial

import msgspec

from kwokctl.clusters.doctor.check import Check, DoctorFinding, Repair, Report, found
from kwokctl.clusters.doctor.cluster.checked_cluster import CheckedCluster
from kwokctl.clusters.objects.metadata import KnownMetadata, known_objects
from kwokctl.clusters.overview.problems import counted, of_pods
from kwokctl.errors import ApiError
from kwokctl.kube.client import Client
from kwokctl.kube.collections.paging import ListQuery
from kwokctl.kube.collections.tables import columns, pages_of_columns
from kwokctl.kube.resource import NODES, PODS
from kwokctl.kube.transport.pool import Pool
from kwokctl.model import KUBE_APISERVER

_TERMINATING = "Terminating"
_NO_NODE = "<none>"
_STUCK = 60.0
"""Seconds after the end of its grace period from which a pod counts as stuck."""
_LOOKED_AT = 20
"""Nodes whose pods are looked at for what is reported; a repair looks at all."""
_OURS = "kwok.x-k8s.io/"
"""The prefix of the finalizers that fake kubelets remove."""
_WITHOUT_GRACE = b'{"gracePeriodSeconds":0}'


class _Sorted(msgspec.Struct):
    """The pods that may be wrong, as numbers by node."""

    total: int = 0
    gone: Counter[str] = msgspec.field(default_factory=Counter)
    """By the name of a node that does not exist."""
    given_up: Counter[str] = msgspec.field(default_factory=Counter)
    """Of those, the ones that are being deleted."""
    leaving: Counter[str] = msgspec.field(default_factory=Counter)
    """By the name of a node, those that are being deleted."""


async def look(checked: CheckedCluster) -> Report:
    """Sort pods by their nodes, then look into those that are wrong."""
    async with checked.api() as pool:
        pods = await _sorted(pool)
        lost = [each async for each in _on(pool, _some(pods.gone)[:1])]
        leaving = [each async for each in _on(pool, _some(pods.leaving))]
    stuck = [each for each in leaving if each.is_deleted_since(checked.wall() - _STUCK)]
    return Report(
        state=_counts(pods.total, pods.leaving.total()),
        findings=(
            *map(found, of_pods(checked.seen)),
            *_lost(checked, pods, lost),
            *_stuck(checked, stuck),
        ),
    )


async def _sorted(pool: Pool) -> _Sorted:
    names = await columns(pool, ListQuery(resource=NODES), "Name", resource_version="0")
    nodes, found_pods = {name for (name,) in names}, _Sorted()
    query = ListQuery(resource=PODS)
    async for rows in pages_of_columns(pool, query, "Status", "Node"):
        for status, node in rows:
            found_pods.total += 1
            if node not in nodes and node != _NO_NODE:
                found_pods.gone[node] += 1
                found_pods.given_up[node] += status == _TERMINATING
            elif status == _TERMINATING:
                found_pods.leaving["" if node == _NO_NODE else node] += 1
    return found_pods


def _some(by_node: Counter[str]) -> list[str]:
    """Return the nodes with the most."""
    return [node for node, _ in by_node.most_common(_LOOKED_AT)]


async def _on(pool: Pool, nodes: Iterable[str]) -> AsyncIterator[KnownMetadata]:
    """Yield the pods of nodes."""
    for node in nodes:
        query = ListQuery(resource=PODS, field_selector=f"spec.nodeName={node}")
        async for each in known_objects(pool, query):
            yield each


def _lost(
    checked: CheckedCluster, pods: _Sorted, some: list[KnownMetadata]
) -> Iterator[DoctorFinding]:
    if not pods.gone:
        return
    nodes = [node for node, count in pods.given_up.items() if count]
    count = pods.given_up.total()
    repair = Repair(
        what=f"Removing {count:,} deleted pods of '{checked.name}' whose nodes are gone",
        do=partial(_remove, checked, nodes),
    )
    what = f"{counted(pods.gone.total(), 'pod')} on nodes that are gone, such as '{next(iter(pods.gone))}'"
    remedy = "create the node again, or delete its pods"
    if some:
        name = f"-n {some[0].namespace} {some[0].name}"
        remedy = f"{checked.command} kubectl delete pod --force --grace-period=0 {name}"
    yield DoctorFinding(what=what, remedy=remedy, repair=repair if count else None)


async def _remove(checked: CheckedCluster, nodes: Iterable[str]) -> None:
    """Remove the deleted pods of gone nodes, of one node after the other: no kubelet ends them."""
    async with checked.api() as pool:
        async for pod in _on(pool, nodes):
            if pod.deleted:
                await _end(Client(pool), pod)


async def _end(client: Client, pod: KnownMetadata) -> None:
    """Take our finalizers off a pod, and delete it at once; it may be gone meanwhile."""
    try:
        await pod.without(client, PODS, _OURS)
        await client.call("DELETE", PODS.path(pod.namespace, pod.name), _WITHOUT_GRACE)
    except ApiError as e:
        if e.status != 404:
            raise


def _stuck(checked: CheckedCluster, stuck: list[KnownMetadata]) -> tuple[DoctorFinding, ...]:
    if not stuck:
        return ()
    one = stuck[0]
    what = f"{counted(len(stuck), 'pod')} stuck in deletion, such as '{one.name}'"
    explain = f"{checked.command} stage explain pod/{one.name} -n {one.namespace}"
    remedy = f"see which Stage deletes it: {explain}"
    if one.finalizers:
        what += f", which has the finalizers {', '.join(one.finalizers)}"
        remedy = f"see whether their controller runs; else {explain}"
    return (DoctorFinding(what=what, remedy=remedy),)


def _counts(total: int, leaving: int) -> str:
    return f"{total:,}, {leaving:,} of them being deleted" if leaving else f"{total:,}"


CHECK = Check(
    name="pods",
    looks_at="pods that wait, are not deleted, or have lost their node",
    look=look,
    needs=(KUBE_APISERVER,),
)
