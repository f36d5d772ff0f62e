"""Counts nodes and pods by status without reading them: the API server prints, and counts itself.

Of pods that run only the number is known. The server leaves them out of the rest, so that a hundred
thousand of them cost nothing.
"""

from collections import Counter

from kwokctl.clusters.overview.figures import READY, RUNNING, Nodes, Pods
from kwokctl.kube.collections.paging import ListQuery, count
from kwokctl.kube.collections.tables import columns
from kwokctl.kube.resource import NODES, PODS
from kwokctl.kube.transport.pool import Pool

_CACHED = "0"


async def count_nodes(pool: Pool) -> Nodes:
    """Return the nodes by status; ApiError if the API server refuses."""
    query = ListQuery(resource=NODES)
    rows = [*await columns(pool, query, "Name", "Status", resource_version=_CACHED)]
    # "Ready,SchedulingDisabled" is Ready, and more.
    statuses = {name: status.partition(",")[0] for name, status in rows}
    not_ready = next((name for name, status in statuses.items() if status != READY), "")
    return Nodes(by_status=Counter(statuses.values()), not_ready=not_ready)


async def count_pods(pool: Pool) -> Pods:
    """Return the pods by status; ApiError if the API server refuses."""
    total = await count(pool, ListQuery(resource=PODS))
    others = ListQuery(resource=PODS, field_selector=f"status.phase!={RUNNING}")
    rows = [*await columns(pool, others, "Status", resource_version=_CACHED)]
    by_status = Counter(status for (status,) in rows)
    running = {RUNNING: total - len(rows)} if total > len(rows) else {}
    return Pods(by_status=running | dict(by_status.most_common()))
