import asyncio
from collections import Counter
from typing import Any

import pytest

from kwokctl.clusters.scaling.changes import Serials
from kwokctl.clusters.scaling.objects.render import Renderer
from kwokctl.clusters.scaling.placement import Placing, placing_of
from kwokctl.clusters.scaling.scale_request import ScaleRequest
from kwokctl.clusters.state.resource_templates import (
    ResourceTemplate,
    find_template,
    load_templates,
)
from kwokctl.errors import CapacityError, NotFoundError, UsageError
from kwokctl.kube.resource import NODES, PODS, Resource
from tests.support.memory_cluster import MemoryCluster

POD = "apiVersion: v1\nkind: Pod\nspec: {nodeName: {{ printf `node-%d` (mod Index 3) }}}"


def with_nodes(limit: int | None = None) -> MemoryCluster:
    cluster = MemoryCluster()
    for number in (2, 0, 1):
        node = cluster.put("Node", f"node-{number}", labels={"type": "kwok"})
        if limit is not None:
            node["status"] = {"allocatable": {"pods": str(limit)}}
    return cluster


async def placed(
    request: ScaleRequest,
    *,
    resource: Resource = PODS,
    template: str | None = None,
    cluster: MemoryCluster | None = None,
) -> Placing:
    cluster = cluster or with_nodes()
    found = find_template(load_templates([]), request.kind)
    if template is not None:
        found = ResourceTemplate(name="pod", parameters={}, template=template, source="mine")
    renderer = Renderer(found, request, lambda: 0.0)
    return await placing_of(request, renderer, resource, cluster)


def nodes(placing: Placing) -> list[str]:
    assert placing.node_of is not None
    return [placing.node_of(serial) for serial in range(4)]


async def test_pods_are_left_to_the_scheduler_by_default() -> None:
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


async def test_only_pods_are_placed_on_nodes() -> None:
    with pytest.raises(UsageError, match="not for nodes"):
        await placed(ScaleRequest(kind="node", on_nodes="type=kwok"), resource=NODES)


def settled(serials: int, *pods: str, limit: int = 4, **request: Any) -> list[str]:
    """Return the nodes of so many pods, spread over three nodes beside pods that are there."""
    cluster = with_nodes(limit)
    for number, node in enumerate(pods):
        cluster.put("Pod", f"there-{number}")["spec"] = {"nodeName": node}

    async def settle() -> list[str]:
        wanted = ScaleRequest(kind="pod", on_nodes="type=kwok", **request)
        placing = await placed(wanted, cluster=cluster)
        missing = Serials([range(serials)])
        await placing.settle(missing, cluster)
        assert placing.node_of is not None
        return [placing.node_of(serial) for serial in missing]

    return asyncio.run(settle())


def test_pods_fill_the_nodes_to_their_limit() -> None:
    assert Counter(settled(12)) == {"node-0": 4, "node-1": 4, "node-2": 4}


def test_nodes_that_are_full_are_left_out() -> None:
    there = ["node-1"] * 4 + ["node-0"] * 3

    assert settled(5, *there) == ["node-0", "node-2", "node-2", "node-2", "node-2"]


def test_pods_that_do_not_fit_are_refused_unless_that_is_forced() -> None:
    with pytest.raises(CapacityError, match=r"no room for 12 pods: 3 nodes .* can take 11 more"):
        settled(12, "node-1")

    assert Counter(settled(12, "node-1", force=True)) == {"node-0": 4, "node-1": 4, "node-2": 4}


async def test_nodes_that_give_no_limit_have_none() -> None:
    cluster = with_nodes()
    placing = await placed(ScaleRequest(kind="pod", on_nodes="type=kwok"), cluster=cluster)

    await placing.settle(Serials([range(1000)]), cluster)

    assert nodes(placing) == ["node-0", "node-1", "node-2", "node-0"]
