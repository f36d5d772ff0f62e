"""The annotation that says what a node is short of, as the node's conditions show it."""

import asyncio

from kwokctl.errors import ApiError
from kwokctl.kube.resource import NODES
from tests.support.fleet_rig import Rig, conditions, node, story

ANNOTATION = "kwokctl.dev/pressure"


def pressed(rig: Rig, text: str | None) -> None:
    rig.cluster.change(NODES, "n", metadata={"annotations": {ANNOTATION: text}})


def said(rig: Rig, condition: str = "MemoryPressure") -> tuple[str, str, str]:
    found = conditions(rig.node())[condition]
    return found["status"], found["reason"], found["message"]


def events(rig: Rig) -> list[tuple[str, str]]:
    return [
        (each["reason"], each["message"])
        for each in rig.cluster.objects.values()
        if "involvedObject" in each
    ]


SHORT = ("True", "KubeletHasInsufficientMemory", "kubelet has insufficient memory available")
WELL = ("False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available")


def test_the_condition_comes_and_goes_with_the_annotation() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        await asyncio.sleep(5)
        assert said(rig) == WELL
        pressed(rig, "memory")
        await asyncio.sleep(5)
        assert said(rig) == SHORT

        await asyncio.sleep(3600)
        assert said(rig) == SHORT

        pressed(rig, None)
        await asyncio.sleep(5)
        assert said(rig) == WELL
        assert events(rig) == [
            ("NodeHasInsufficientMemory", "Node n status is now: NodeHasInsufficientMemory"),
            ("NodeHasSufficientMemory", "Node n status is now: NodeHasSufficientMemory"),
        ]


def test_several_pressures_are_told_apart() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node(annotations={ANNOTATION: "disk, pid"}))
        await asyncio.sleep(5)
        assert said(rig, "DiskPressure")[:2] == ("True", "KubeletHasDiskPressure")
        assert said(rig, "PIDPressure")[:2] == ("True", "KubeletHasInsufficientPID")
        assert said(rig) == WELL

        pressed(rig, "pid")
        await asyncio.sleep(5)
        assert said(rig, "DiskPressure")[:2] == ("False", "KubeletHasNoDiskPressure")
        assert said(rig, "PIDPressure")[:2] == ("True", "KubeletHasInsufficientPID")


def test_a_condition_that_another_client_has_set_stays() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        await asyncio.sleep(5)
        own = [
            {**each, "status": "True", "reason": "Drill"}
            if each["type"] == "MemoryPressure"
            else each
            for each in rig.node()["status"]["conditions"]
        ]
        rig.cluster.change(NODES, "n", status={"conditions": own})
        before = len(rig.cluster.verbs("patch"))
        pressed(rig, "memory")
        await asyncio.sleep(5)
        pressed(rig, None)
        await asyncio.sleep(5)

        assert said(rig)[:2] == ("True", "Drill")
        assert len(rig.cluster.verbs("patch")) == before


def test_a_write_that_fails_is_tried_again() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        await asyncio.sleep(5)
        rig.cluster.refuse.extend([ApiError("busy", status=503), ApiError("no", status=403)])
        pressed(rig, "memory")
        await asyncio.sleep(60)

        assert said(rig) == SHORT


def test_nothing_is_said_of_a_node_that_another_controller_holds() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        await asyncio.sleep(5)
        rig.foreign(seconds=3600)
        await asyncio.sleep(15)
        pressed(rig, "memory")
        await asyncio.sleep(30)

        assert said(rig) == WELL


def test_a_node_without_an_annotation_costs_no_request() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        await asyncio.sleep(5)
        for number in range(5):
            rig.cluster.change(NODES, "n", metadata={"labels": {"a": str(number)}})
            await asyncio.sleep(1)

        assert rig.cluster.verbs("get") == []
        assert len(rig.cluster.verbs("patch")) == 1
