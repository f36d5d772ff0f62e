import pytest

from kwokctl.clusters.scaling.mould import Mould
from kwokctl.clusters.scaling.placing import Placing, placing_of
from kwokctl.clusters.scaling.request import ScaleRequest
from kwokctl.clusters.scaling.templates import ResourceTemplate, find_template, load_templates
from kwokctl.errors import NotFoundError, UsageError
from kwokctl.kube.resource import NODES, PODS, Resource
from tests.support.memory_cluster import MemoryCluster

POD = "apiVersion: v1\nkind: Pod\nspec: {nodeName: {{ printf `node-%d` (mod Index 3) }}}"


async def placed(
    request: ScaleRequest, *, resource: Resource = PODS, template: str | None = None
) -> Placing:
    cluster = MemoryCluster()
    for number in (2, 0, 1):
        cluster.put("Node", f"node-{number}", labels={"type": "kwok"})
    found = find_template(load_templates([]), request.kind)
    if template is not None:
        found = ResourceTemplate(name="pod", parameters={}, template=template, source="mine")
    mould = Mould(found, request, lambda: 0.0)
    return await placing_of(request, mould, resource, cluster)


def nodes(placing: Placing) -> list[str]:
    assert placing.node_of is not None
    return [placing.node_of(serial) for serial in range(4)]


async def test_pods_are_for_the_scheduler_unless_somebody_says_otherwise() -> None:
    assert (await placed(ScaleRequest(kind="pod"))).node_of is None
    assert (await placed(ScaleRequest(kind="node"), resource=NODES)).node_of is None


async def test_a_template_may_name_one_node_for_all() -> None:
    placing = await placed(ScaleRequest(kind="pod", params=('.nodeName="n"',)))

    assert nodes(placing) == ["n"] * 4


async def test_a_template_may_count_the_nodes_through() -> None:
    placing = await placed(ScaleRequest(kind="pod"), template=POD)

    assert nodes(placing) == ["node-0", "node-1", "node-2", "node-0"]


async def test_pods_are_spread_over_the_nodes_with_a_label_one_after_the_other() -> None:
    placing = await placed(ScaleRequest(kind="pod", on_nodes="type=kwok"))

    assert nodes(placing) == ["node-0", "node-1", "node-2", "node-0"]
    assert placing.stamp(1)["spec"]["nodeName"] == "node-1"


async def test_nodes_that_do_not_exist_are_named() -> None:
    with pytest.raises(NotFoundError, match="type=gpu"):
        await placed(ScaleRequest(kind="pod", on_nodes="type=gpu"))


async def test_only_pods_lie_on_nodes() -> None:
    with pytest.raises(UsageError, match="not for nodes"):
        await placed(ScaleRequest(kind="node", on_nodes="type=kwok"), resource=NODES)
