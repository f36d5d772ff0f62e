"""Pods that live as on a kubelet, with the whole controller on a cluster in memory."""

import asyncio
from typing import Any

from kwokctl.errors import ApiError
from kwokctl.kube.resource import NODES, PODS
from tests.support.fleet_rig import Rig, node, pod, story


def with_program(text: str, **spec: Any) -> dict[str, Any]:
    body = pod(**spec)
    body["metadata"]["annotations"] = {"kwokctl.dev/program": text}
    return body


def test_a_pod_runs_and_is_deleted() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(5)

        status = rig.pod()["status"]
        assert status["phase"] == "Running"
        assert status["podIP"] == "10.1.0.1"
        assert status["hostIP"]
        state = rig.controller.pods.get("ns/p")
        assert state is not None
        assert state.raw is None

        metadata = {"deletionTimestamp": "2026-01-01T12:00:30Z", "deletionGracePeriodSeconds": 30}
        rig.cluster.change(PODS, "p", "ns", metadata=metadata)
        await asyncio.sleep(40)
        assert ("delete", "p") in rig.cluster.writes


def test_a_container_whose_state_a_client_has_removed_is_written_again_as_it_was() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        rig.cluster.put(PODS, with_program("pull=2s ready=5s"))
        await asyncio.sleep(20)
        before = rig.pod()["status"]["containerStatuses"]
        events = sorted(each["reason"] for each in rig.cluster.objects.values() if "reason" in each)

        bare = {"name": "c", "image": "", "imageID": "", "ready": False, "restartCount": 0}
        rig.cluster.change(
            PODS, "p", "ns", status={"containerStatuses": [{**bare, "state": {}, "lastState": {}}]}
        )
        await asyncio.sleep(20)

        assert rig.pod()["status"]["containerStatuses"] == before
        after = sorted(each["reason"] for each in rig.cluster.objects.values() if "reason" in each)
        assert after == events


def test_a_crash_loop_is_written_with_its_events() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        rig.cluster.put(PODS, with_program("run=2s exit=1"))
        await asyncio.sleep(100)

        [container] = rig.pod()["status"]["containerStatuses"]
        assert container["restartCount"] == 4
        counts = {
            (each["reason"], each["involvedObject"]["fieldPath"]): each["count"]
            for each in rig.cluster.objects.values()
            if each.get("reason") in {"BackOff", "Started"}
        }
        assert counts == {
            ("BackOff", "spec.containers{c}"): 4, ("Started", "spec.containers{c}"): 5,
        }  # fmt: skip


def test_a_write_that_fails_is_tried_again() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        await asyncio.sleep(5)
        rig.cluster.refuse.extend([ApiError("busy", status=503)] * 2)
        rig.cluster.refuse.extend([ApiError("invalid", status=422)] * 2)
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(60)

        assert rig.pod()["status"]["phase"] == "Running"


def test_a_label_for_a_stage_that_does_not_play_the_pod_is_warned_of_once() -> None:
    label = "pod-init-container-running-failed.stage.kwok.x-k8s.io"

    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        for name, life in (("a", {}), ("b", {"kwokctl.dev/life": "stages"})):
            body = pod(name)
            body["metadata"] |= {"labels": {label: "true"}, "annotations": life}
            rig.cluster.put(PODS, body)
        await asyncio.sleep(30)

        warned = [
            body
            for (plural, *_), body in rig.cluster.objects.items()
            if plural == "events" and body["reason"] == "LabelIgnored"
        ]
        [event] = warned
        assert event["involvedObject"]["name"] == "a"
        assert f"'{label}'" in event["message"]
        assert "kwokctl.dev/life: stages" in event["message"]


def test_an_annotation_that_cannot_be_read_is_logged_and_can_be_repaired() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        rig.cluster.put(PODS, with_program("run=soon"))
        await asyncio.sleep(5)
        assert rig.pod()["status"]["phase"] == "Pending"

        repaired = {"kwokctl.dev/program": "run=1h"}
        rig.cluster.change(PODS, "p", "ns", metadata={"annotations": repaired})
        await asyncio.sleep(5)
        assert rig.pod()["status"]["phase"] == "Running"


def test_another_controller_that_changes_the_status_back_is_answered_calmly() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(5)
        before = len(rig.cluster.writes)

        async def quarrel() -> None:
            while True:
                if rig.pod()["status"]["phase"] != "Pending":
                    rig.cluster.change(PODS, "p", "ns", status={"phase": "Pending"})
                await asyncio.sleep(0.001)

        async with asyncio.timeout(None):
            task = asyncio.create_task(quarrel())
            await asyncio.sleep(60)
            task.cancel()
        assert len(rig.cluster.writes) - before < 100


def test_a_single_pod_lives_as_on_a_kubelet_beside_those_of_stages() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        body = with_program("run=2s exit=1")
        body["metadata"]["annotations"]["kwokctl.dev/life"] = "kubelet"
        rig.cluster.put(PODS, body)
        await asyncio.sleep(30)
        assert rig.pod()["status"]["containerStatuses"][0]["restartCount"] > 0

        rig.cluster.change(
            PODS, "p", "ns", metadata={"annotations": {"kwokctl.dev/life": "stages"}}
        )
        restarts = rig.pod()["status"]["containerStatuses"][0]["restartCount"]
        await asyncio.sleep(60)
        assert rig.pod()["status"]["containerStatuses"][0]["restartCount"] == restarts


def test_a_node_refuses_what_it_has_no_room_for() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        body = node()
        body.setdefault("status", {})["allocatable"] = {"cpu": "1", "pods": "1"}
        rig.cluster.put(NODES, body)
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(5)
        rig.cluster.put(PODS, pod(name="second"))
        await asyncio.sleep(5)

        assert rig.pod()["status"]["phase"] == "Running"
        assert rig.pod("second")["status"]["reason"] == "OutOfpods"


def test_a_pod_that_a_rewind_puts_back_is_not_evicted_without_pressure() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(5)
        before = rig.pod()["status"]
        rig.cluster.change(NODES, "n", metadata={"annotations": {"kwokctl.dev/pressure": "memory"}})
        await asyncio.sleep(12)
        assert rig.pod()["status"]["phase"] == "Succeeded"

        rig.cluster.change(NODES, "n", metadata={"annotations": {"kwokctl.dev/pressure": None}})
        rig.cluster.change(PODS, "p", "ns", status=before)
        await asyncio.sleep(60)
        assert rig.pod()["status"]["phase"] == "Running"


def test_a_node_under_pressure_evicts_its_pods_one_by_one() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        rig.cluster.put(PODS, with_program("stop=1h", priority=5))
        rig.cluster.put(PODS, with_program("stop=1h", name="low"))
        await asyncio.sleep(5)
        rig.cluster.change(NODES, "n", metadata={"annotations": {"kwokctl.dev/pressure": "memory"}})
        await asyncio.sleep(9)

        assert rig.pod("low")["status"]["reason"] == "Evicted"
        assert rig.pod()["status"]["phase"] == "Running"
        rig.cluster.put(PODS, pod("late"))
        await asyncio.sleep(11)
        assert rig.pod()["status"]["reason"] == "Evicted"
        assert rig.pod("late")["status"]["message"].endswith("condition: [MemoryPressure]. ")
