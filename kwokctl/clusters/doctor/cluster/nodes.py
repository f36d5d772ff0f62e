"""Why nodes are not Ready: the first rule of a Stage that does not match one of them."""

from collections.abc import Iterator

from kwokctl.clusters.doctor.check import Check, Report, found, not_made
from kwokctl.clusters.doctor.cluster.checked_cluster import CheckedCluster
from kwokctl.clusters.overview.problems import of_nodes
from kwokctl.clusters.stage_tools.live import (
    custom_stages_of_cluster,
    documents_of_cluster,
    has_custom_stages,
)
from kwokctl.clusters.stage_tools.rules import first_broken_rule
from kwokctl.clusters.stage_tools.sources import stages_for
from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.kube.resource import NODES
from kwokctl.model import KUBE_APISERVER


async def look(checked: CheckedCluster) -> Report:
    """Count nodes, and try each Stage of the cluster on one that is not Ready."""
    nodes = checked.seen.nodes
    if nodes is None:
        return not_made("not checked: they could not be listed")
    state = f"{nodes.ready:,} of {nodes.total:,} Ready"
    problems = [*of_nodes(checked.seen)]
    if not problems:
        return Report(state=state)
    async with checked.api() as pool:
        node = await Client(pool).find(NODES, None, nodes.not_ready)
    notes = () if node is None else tuple(await why_no_stage(checked, node))
    return Report(state=state, notes=notes, findings=tuple(map(found, problems)))


async def why_no_stage(checked: CheckedCluster, value: Json) -> Iterator[str]:
    """Return, for each Stage of an object's kind, that it matches, or the first rule that does not."""
    home, name = checked.home, checked.name
    custom = await custom_stages_of_cluster(home, name) if has_custom_stages(home, name) else None
    stages = stages_for(documents_of_cluster(home, name, custom), value)
    called = f"'{value['metadata']['name']}'"
    if not stages:
        return iter([f"the cluster has no Stage for objects of the kind {value['kind']}"])
    return (
        f"Stage '{stage.name}' does not match {called}: {rule}"
        if (rule := first_broken_rule(stage, value))
        else f"Stage '{stage.name}' matches {called}: the controller should play it soon"
        for stage in stages
    )


CHECK = Check(name="nodes", looks_at="whether they are Ready", look=look, needs=(KUBE_APISERVER,))
