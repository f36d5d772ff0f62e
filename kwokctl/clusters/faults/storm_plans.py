"""Plans the storm of a schedule for the nodes of a cluster."""

from collections.abc import Sequence

import msgspec

from kwokctl.clusters.faults.foresee import listed
from kwokctl.clusters.faults.inject import catalogue_of
from kwokctl.clusters.faults.ours import ours
from kwokctl.clusters.faults.reaching import FaultCluster, fault_cluster
from kwokctl.clusters.state.home import Home
from kwokctl.config.config_documents import Document
from kwokctl.errors import NotFoundError
from kwokctl.faults.classes.catalogue import FaultCatalogue
from kwokctl.faults.objects.fault_schema import FaultTarget
from kwokctl.faults.storms.schedule_reader import Schedule, read_schedule
from kwokctl.faults.storms.storm_plan import StormPlan, storm_plan
from kwokctl.faults.targets.candidates import candidate
from kwokctl.faults.targets.target_filters import NoMatchError, matching_nodes
from kwokctl.kube.resource import NODES
from kwokctl.model import ClusterName


class PlannedStorm(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule, and its plan in a cluster."""

    schedule: Schedule
    plan: StormPlan
    nodes: int
    """The number of nodes on which faults may come."""


async def plan_storm(
    home: Home, name: ClusterName, document: Document, documents: Sequence[Document]
) -> PlannedStorm:
    """Return the plan of a schedule; `documents` are the user's classes and dialects.

    Raises ConfigError, with the field, for a schedule that makes no sense, and NotFoundError, with the reason, if no node is its target.
    """
    async with fault_cluster(home, name) as cluster:
        return await storm_in(cluster, document, await catalogue_of(cluster, documents))


async def storm_in(
    cluster: FaultCluster, document: Document, catalogue: FaultCatalogue
) -> PlannedStorm:
    """Return the plan of a schedule in a cluster that answers; errors as `plan_storm`."""
    schedule = read_schedule(document, catalogue)
    nodes = await listed(cluster, NODES)
    is_ours = await ours(cluster)
    given = schedule.spec.target
    target = FaultTarget(nodes=given.nodes, unit=given.unit, where=given.where)
    candidates = [candidate(each, is_ours=True) for each in nodes if is_ours(each)]
    try:
        found = matching_nodes(target, candidates, None)
    except NoMatchError as e:
        raise NotFoundError(str(e), hint=e.hint or None) from e
    plan = storm_plan(schedule.spec, schedule.processes, catalogue, found)
    return PlannedStorm(schedule=schedule, plan=plan, nodes=len(found))
