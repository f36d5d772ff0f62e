"""Finds fake nodes that metrics-server cannot measure, because they lack the path of their metrics.

The controller adds that to each node with the next status that it writes. So only nodes of before are found,
and those whose Stages write no status.
"""

from collections.abc import AsyncIterator, Sequence
from functools import partial

import msgspec

from kwokctl.clusters.doctor.check import Check, DoctorFinding, Repair, Report
from kwokctl.clusters.doctor.cluster.checked_cluster import CheckedCluster
from kwokctl.clusters.overview.problems import counted
from kwokctl.components.fake_nodes import KUBELET_ADDRESS
from kwokctl.embedded.resource_metrics import ANNOTATION, path_of
from kwokctl.errors import ApiError
from kwokctl.kube.client import Client, PatchType
from kwokctl.kube.collections.paging import METADATA, ListQuery, list_pages
from kwokctl.kube.resource import NODES
from kwokctl.kube.transport.pool import Pool
from kwokctl.model import KUBE_APISERVER, METRICS_SERVER
from kwokctl.tasks import for_each

_WRITES_TOGETHER = 16


class _Metadata(msgspec.Struct):
    name: str
    annotations: dict[str, str] = {}


class _Address(msgspec.Struct):
    type: str = ""


class _Status(msgspec.Struct):
    addresses: list[_Address] = []


class _Node(msgspec.Struct):
    metadata: _Metadata
    status: _Status = msgspec.field(default_factory=_Status)


_decode = msgspec.json.Decoder(_Node).decode


async def look(checked: CheckedCluster) -> Report:
    """Count the nodes without a path; whole nodes are read only if there are some."""
    if METRICS_SERVER not in checked.saved.names:
        return Report(state="no metrics-server")
    async with checked.api() as pool:
        silent = [each async for each in _silent(pool, accept=METADATA)]
        if silent:
            silent = [each async for each in _silent(pool) if _is_fake(each)]
    names = [each.metadata.name for each in silent]
    state = f"{len(names):,} nodes without a path" if names else "each node has a path"
    return Report(state=state, findings=_findings(checked, names))


async def _silent(pool: Pool, *, accept: str = "application/json") -> AsyncIterator[_Node]:
    """Yield the nodes that do not say where their metrics are."""
    async for page in list_pages(pool, ListQuery(resource=NODES), accept=accept):
        for raw in page.objects:
            node = _decode(raw)
            if ANNOTATION not in node.metadata.annotations:
                yield node


def _is_fake(node: _Node) -> bool:
    return any(address.type == KUBELET_ADDRESS for address in node.status.addresses)


def _findings(checked: CheckedCluster, names: Sequence[str]) -> tuple[DoctorFinding, ...]:
    if not names:
        return ()
    finding = DoctorFinding(
        what=f"{counted(len(names), 'node')} without metrics, such as '{names[0]}': "
        f"the annotation '{ANNOTATION}' is missing",
        remedy=f"{checked.command} doctor --fix, or wait for the next status of the node",
        repair=Repair(
            what=f"Annotating {len(names):,} of the nodes of '{checked.name}'",
            do=partial(_annotate, checked, names),
        ),
    )
    return (finding,)


async def _annotate(checked: CheckedCluster, names: Sequence[str]) -> None:
    """Say of each node where its metrics are; it may be gone meanwhile."""
    async with checked.api() as pool:
        client = Client(pool)

        async def annotate(name: str) -> None:
            body = {"metadata": {"annotations": {ANNOTATION: path_of(name)}}}
            path = NODES.path(None, name)
            try:
                await client.call(
                    "PATCH", path, msgspec.json.encode(body), content_type=PatchType.MERGE
                )
            except ApiError as e:
                if e.status != 404:
                    raise

        await for_each(names, annotate, at_once=_WRITES_TOGETHER)


CHECK = Check(
    name="metrics",
    looks_at="nodes that metrics-server cannot measure",
    look=look,
    needs=(KUBE_APISERVER,),
)
