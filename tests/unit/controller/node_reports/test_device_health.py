"""The annotation that says which devices of a node are not healthy, as its numbers and its pods show it."""

import asyncio

import pytest

from kwokctl.kube.resource import NODES, PODS
from tests.support.fleet_rig import Rig, story
from tests.unit.controller.lifecycle.test_devices import (
    GPU,
    annotated,
    gpu_pod,
    healths,
    held,
    ids,
    machine,
    numbers,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("unhealthy=3", "8/7"),
        ("unhealthy=0,1,1", "8/6"),
        (f"unhealthy={GPU}:3", "8/7"),
        (f"unhealthy={ids()[3]}", "8/7"),
        ("missing=3", "7/7"),
        ("missing=3 unhealthy=4", "7/6"),
        (f"gone={GPU}", "8/0"),
        ("gone=all", "8/0"),
    ],
)
def test_the_numbers_are_those_of_a_kubelet_and_come_back(text: str, expected: str) -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, machine())
        await asyncio.sleep(5)
        annotated(rig, text)
        await asyncio.sleep(5)
        assert numbers(rig) == expected
        annotated(rig, None)
        await asyncio.sleep(5)
        assert numbers(rig) == "8/8"
        assert "kwokctl.dev/device-inventory" not in rig.node()["metadata"]["annotations"]


def test_a_plugin_that_is_gone_has_five_minutes_of_grace_also_across_a_restart() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, machine())
        await asyncio.sleep(5)
        annotated(rig, "gone=all")
        await asyncio.sleep(290)
        assert numbers(rig) == "8/0"
        await asyncio.sleep(20)
        assert numbers(rig) == "0/0"

        annotated(rig, "unhealthy=3")
        await asyncio.sleep(5)
        assert numbers(rig) == "8/7"


def test_another_controller_goes_on_with_the_same_grace_and_the_same_inventory() -> None:
    inventory = '{"devices":{"nvidia.com/gpu":8},"gone":{"nvidia.com/gpu":"2026-01-01T11:56:00Z"}}'
    gone = {"kwokctl.dev/device-health": "gone=all", "kwokctl.dev/device-inventory": inventory}

    @story()
    async def _(rig: Rig) -> None:
        body = machine(annotations=gone)
        body["status"]["allocatable"][GPU] = "0"
        rig.cluster.put(NODES, body)
        await asyncio.sleep(55)
        assert numbers(rig) == "8/0"
        await asyncio.sleep(10)
        assert numbers(rig) == "0/0"
        annotated(rig, None)
        await asyncio.sleep(5)
        assert numbers(rig) == "8/8"


def test_devices_can_appear_after_the_node() -> None:
    @story()
    async def _(rig: Rig) -> None:
        body = machine(annotations={"kwokctl.dev/device-health": "delay=30s"})
        body["metadata"]["creationTimestamp"] = "2026-01-01T12:00:00Z"
        body["status"]["allocatable"][GPU] = "0"
        rig.cluster.put(NODES, body)
        await asyncio.sleep(20)
        assert numbers(rig) == "0/0"
        await asyncio.sleep(15)
        assert numbers(rig) == "8/8"


def test_the_health_of_a_device_is_shown_by_its_pod_and_no_new_pod_gets_it() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, machine())
        rig.cluster.put(PODS, gpu_pod("a", 2))
        await asyncio.sleep(20)
        annotated(rig, "unhealthy=1,2")
        await asyncio.sleep(5)
        assert healths(rig, "a") == ["Healthy", "Unhealthy"]
        rig.cluster.put(PODS, gpu_pod("b"))
        await asyncio.sleep(5)
        assert held(rig, "b") == {"c": ids()[3:4]}

        annotated(rig, "gone=all")
        await asyncio.sleep(5)
        assert healths(rig, "a") == ["Unhealthy", "Unhealthy"]
        rig.cluster.put(PODS, gpu_pod("late"))
        await asyncio.sleep(5)
        assert rig.pod("late")["status"]["message"] == (
            "Pod was rejected: Allocate failed due to no healthy devices present; "
            "cannot allocate unhealthy devices nvidia.com/gpu, which is unexpected"
        )
        annotated(rig, None)
        await asyncio.sleep(5)
        assert healths(rig, "a") == ["Healthy", "Healthy"]
        assert rig.pod("a")["status"]["phase"] == "Running"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("broken", "'broken' is not understood; give words"),
        ("unhealthy=", "'' is not a list; give words"),
        ("delay=soon", "'soon' is not a duration; for example: 1h30m"),
        ("unhealthy=9", "the node has no device or resource '9': see what it has"),
        ("gone=example.com/none", "the node has no device or resource 'example.com/none'"),
    ],
)
def test_an_annotation_that_says_nothing_is_warned_of_once(text: str, problem: str) -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, machine())
        await asyncio.sleep(5)
        annotated(rig, text)
        await asyncio.sleep(5)
        rig.cluster.change(NODES, "n", metadata={"labels": {"a": "b"}})
        await asyncio.sleep(5)
        [event] = [
            each
            for each in rig.cluster.objects.values()
            if each.get("reason") == "DeviceHealthIgnored"
        ]
        assert problem in event["message"]
        assert numbers(rig) == "8/8"
