"""What is added to the capacity of a node, and what its kubelet says of it."""

import asyncio

from kwokctl.controller.nodes.facts import DOWN
from kwokctl.kube.resource import NODES
from tests.support.fleet_rig import Rig, node, story
from tests.support.shipped_stages import shipped

OWN = {"cpu": "4", "memory": "8Gi"}


def test_what_is_added_to_the_capacity_becomes_allocatable_and_nothing_else_changes() -> None:
    @story()
    async def _(rig: Rig) -> None:
        body = node()
        body["status"] |= {"capacity": {**OWN, "cpu": "8"}, "allocatable": OWN}
        rig.cluster.put(NODES, body)
        await asyncio.sleep(5)
        assert rig.node()["status"]["allocatable"] == OWN

        capacity = {**rig.node()["status"]["capacity"], "example.com/dongle": "3"}
        rig.cluster.change(NODES, "n", status={"capacity": capacity})
        await asyncio.sleep(5)
        assert rig.node()["status"]["allocatable"] == {**OWN, "example.com/dongle": "3"}
        assert rig.node()["status"]["capacity"] == capacity


def test_a_kubelet_that_is_down_says_so_when_it_is_back() -> None:
    @story(stages=shipped("node-chaos"))
    async def _(rig: Rig) -> None:
        body = node()
        body["status"] |= {"capacity": OWN, "allocatable": OWN}
        rig.cluster.put(NODES, body)
        await asyncio.sleep(5)
        rig.cluster.change(NODES, "n", metadata={"labels": {DOWN: "true"}})
        await asyncio.sleep(5)
        rig.cluster.change(NODES, "n", status={"capacity": {**OWN, "example.com/dongle": "3"}})
        await asyncio.sleep(60)
        assert rig.node()["status"]["allocatable"] == OWN

        rig.cluster.change(NODES, "n", metadata={"labels": {DOWN: None}})
        await asyncio.sleep(5)
        assert rig.node()["status"]["allocatable"] == {**OWN, "example.com/dongle": "3"}
