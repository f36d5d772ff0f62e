"""The units that a Fault hits, as the cluster has written them down."""

from contextlib import aclosing

from kwokctl.clusters.faults.object_versions import object_versions
from kwokctl.clusters.faults.reaching import FaultCluster, fault_cluster
from kwokctl.clusters.faults.stored_faults import decode_fault, rows_of, stored_faults
from kwokctl.clusters.state.home import Home
from kwokctl.errors import NotFoundError
from kwokctl.faults.objects.fault_schema import StoredFault
from kwokctl.faults.objects.unit_rows import FaultUnit
from kwokctl.kube.resource import FAULTS
from kwokctl.model import ClusterName
from kwokctl.waits import bounded

_PENDING = "Pending"


async def hit_units(
    home: Home, name: ClusterName, fault: str, *, within: float = 0.0
) -> tuple[FaultUnit, ...]:
    """Return the units of a Fault in the order of their selection; wait up to `within` seconds until it is injected.

    Raises NotFoundError if there is no such Fault, or if no controller has injected it by then.
    """
    async with fault_cluster(home, name) as cluster:
        [found] = await stored_faults(cluster.client, [fault])
        if found.status.phase == _PENDING and within > 0:
            found = await _injected(cluster, found, within)
        if found.status.phase == _PENDING:
            raise NotFoundError(
                f"it is not known yet what the fault '{fault}' hits: no controller has injected it",
                hint=f"it is due {found.spec.at} after it was made; see: kwokctl --name {name} fault status {fault}",
            )
        rows = await rows_of(cluster.client, [found])
    return tuple(row.unit for row in rows[found.metadata.uid])


async def _injected(cluster: FaultCluster, fault: StoredFault, seconds: float) -> StoredFault:
    """Return a Fault once it is injected, or as it is after some seconds."""
    versions = object_versions(cluster.client, FAULTS, fault, decode_fault.decode)
    try:
        async with bounded(seconds), aclosing(versions):
            async for version in versions:
                if version.status.phase != _PENDING:
                    return version
    except TimeoutError:
        pass
    return fault
