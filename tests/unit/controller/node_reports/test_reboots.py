"""A changed boot ID is a reboot: the kubelet says so, and no container of the node runs on."""

import asyncio
from typing import Any

import pytest

from kwokctl.controller.nodes.facts import DOWN
from kwokctl.errors import ApiError
from kwokctl.expr.duration import parse_time
from kwokctl.kube.resource import NODES, PODS
from tests.support.fleet_rig import START, Rig, node, pod, story
from tests.support.shipped_stages import shipped

LIVES = pytest.mark.parametrize(
    "life",
    [
        {"stages": shipped("node-chaos")},
        {"stages": shipped("node-chaos", "pod-kubelet"), "has_kubelet_pods": True},
    ],
    ids=["stages", "kubelet"],
)
AS_ON_A_KUBELET = {"stages": shipped("pod-kubelet"), "has_kubelet_pods": True}


def reboot(rig: Rig, boot_id: str = "another") -> float:
    rig.cluster.change(NODES, "n", status={"nodeInfo": {"bootID": boot_id}})
    return START + asyncio.get_running_loop().time()


def container(rig: Rig, name: str = "p") -> Any:
    [found] = rig.pod(name)["status"]["containerStatuses"]
    return found


def events(rig: Rig, reason: str) -> list[dict[str, Any]]:
    return [each for each in rig.cluster.objects.values() if each.get("reason") == reason]


@LIVES
def test_containers_are_started_again(life: dict[str, Any]) -> None:
    @story(**life)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(60)
        before = container(rig)
        at = reboot(rig)
        await asyncio.sleep(5)

        after = container(rig)
        assert rig.pod()["status"]["phase"] == "Running"
        assert after["restartCount"] == before["restartCount"] + 1
        assert after["containerID"] != before["containerID"]
        end = after["lastState"]["terminated"]
        assert (end["exitCode"], end["reason"]) == (255, "Unknown")
        assert end["containerID"] == before["containerID"]
        assert at - 1 < parse_time(end["finishedAt"]) <= at + 5
        assert parse_time(after["state"]["running"]["startedAt"]) >= int(at)

        await asyncio.sleep(600)
        assert container(rig) == after


def test_a_machine_that_reboots_again_and_again_is_followed_calmly() -> None:
    @story(stages=shipped("node-chaos"))
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(60.95)  # so that each reboot is in another second
        counts = []
        for number in range(9):
            reboot(rig, f"boot-{number}")
            await asyncio.sleep(0.5)
            counts.append(container(rig)["restartCount"])
            await asyncio.sleep(0.49)
        assert counts == [1, 2, 3, 4, 5, 6, 7, 8, 8]

        await asyncio.sleep(0.1)
        assert container(rig)["restartCount"] == 9


@LIVES
def test_a_pod_that_is_not_restarted_fails(life: dict[str, Any]) -> None:
    @story(**life)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        body = pod(restartPolicy="Never")
        body["metadata"]["annotations"] = {"kwokctl.dev/program": "run=forever"}
        rig.cluster.put(PODS, body)
        await asyncio.sleep(60)
        reboot(rig)
        await asyncio.sleep(5)

        assert rig.pod()["status"]["phase"] == "Failed"
        assert container(rig)["state"]["terminated"]["reason"] == "Unknown"
        assert container(rig)["ready"] is False


@LIVES
def test_what_the_kubelet_says(life: dict[str, Any]) -> None:
    @story(**life)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        await asyncio.sleep(5)
        assert rig.node()["status"]["nodeInfo"]["bootID"]
        reboot(rig)
        rig.cluster.refuse.append(ApiError("busy", status=503))
        await asyncio.sleep(30)

        [event] = events(rig, "Rebooted")
        assert event["type"] == "Warning"
        assert event["message"] == "Node n has been rebooted, boot id: another"
        assert event["source"]["component"] == "kubelet"
        assert event["involvedObject"]["kind"] == "Node"


@LIVES
def test_a_reboot_while_the_kubelet_is_down_is_seen_when_it_is_back(life: dict[str, Any]) -> None:
    @story(**life)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(60)
        rig.cluster.change(NODES, "n", metadata={"labels": {DOWN: "true"}})
        await asyncio.sleep(30)
        before = rig.pod()
        reboot(rig)
        await asyncio.sleep(30)
        assert rig.pod() == before
        assert events(rig, "Rebooted") == []

        rig.cluster.change(NODES, "n", metadata={"labels": {DOWN: None}})
        await asyncio.sleep(10)
        assert container(rig)["restartCount"] == 1
        assert len(events(rig, "Rebooted")) == 1


@LIVES
def test_pods_that_have_ended_or_start_later_are_left_alone(life: dict[str, Any]) -> None:
    @story(**life)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        ended = pod("ended")
        ended["status"] = {"phase": "Succeeded", "startTime": "2026-01-01T12:00:00Z"}
        rig.cluster.put(PODS, ended)
        await asyncio.sleep(60)
        before = rig.pod("ended")
        reboot(rig)
        await asyncio.sleep(5)
        rig.cluster.put(PODS, pod("later"))
        await asyncio.sleep(60)

        assert rig.pod("ended") == before
        assert container(rig, "later")["restartCount"] == 0


def test_a_boot_id_that_a_node_has_had_before_is_put_back_by_a_rewind() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(60)
        first = rig.node()["status"]["nodeInfo"]["bootID"]
        reboot(rig)
        await asyncio.sleep(60)
        reboot(rig, first)
        await asyncio.sleep(60)

        assert container(rig)["restartCount"] == 1
        assert len(events(rig, "Rebooted")) == 1


@LIVES
def test_a_pod_that_a_rewind_puts_back_is_not_restarted_again(life: dict[str, Any]) -> None:
    @story(**life)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(60)
        before = rig.pod()["status"]
        reboot(rig)
        await asyncio.sleep(60)
        assert container(rig)["restartCount"] == 1
        rig.cluster.change(PODS, "p", "ns", status=before)
        await asyncio.sleep(60)

        assert container(rig)["restartCount"] == 0


def test_a_kubelet_begins_with_a_new_sandbox_and_with_the_init_containers() -> None:
    @story(**AS_ON_A_KUBELET)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        body = pod(initContainers=[{"name": "first", "image": "i"}])
        body["metadata"]["annotations"] = {"program.kwokctl.dev/first": "run=30s"}
        rig.cluster.put(PODS, body)
        await asyncio.sleep(60)
        assert "running" in container(rig)["state"]
        reboot(rig)
        await asyncio.sleep(10)
        [first] = rig.pod()["status"]["initContainerStatuses"]
        assert "running" in first["state"]
        assert first["restartCount"] == 1
        assert container(rig)["state"]["waiting"]["reason"] == "PodInitializing"
        await asyncio.sleep(30)

        assert container(rig)["restartCount"] == 1
        assert "running" in container(rig)["state"]
        assert len(events(rig, "SandboxChanged")) == 1
