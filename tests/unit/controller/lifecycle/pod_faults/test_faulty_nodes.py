"""Pods of nodes that say which faults they show, with the whole controller on a cluster in memory."""

import asyncio
from typing import Any

import pytest

from kwokctl.controller.faults.node_overlays import NodeOverlays
from kwokctl.faults.overlays.open_entries import (
    OPEN_FAULTS,
    OpenEntry,
    PodEffect,
    WorkloadEffect,
    entries_text,
)
from kwokctl.kube.resource import LEASES, NODES, PODS
from kwokctl.replacing import replace
from tests.support.fake_cluster import FakeCluster
from tests.support.fleet_rig import START, Rig, node, pod, story
from tests.support.virtual_time import run
from tests.unit.controller.lifecycle.test_devices import gpu_pod, machine

XID = WorkloadEffect(effect="fail", exit_code=134, reason="Gone", after="5s")
HANG = WorkloadEffect(effect="hang")


@pytest.fixture(autouse=True)
def _by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nodes say what a test writes: there are no Faults to which that belongs, so it would be undone."""
    monkeypatch.setattr(NodeOverlays, "put", lambda *_: None)


def show(rig: Rig, *entries: OpenEntry, on: str = "n") -> None:
    """Let a node show these faults, and no others."""
    text = entries_text(entries) if entries else None
    rig.cluster.change(NODES, on, metadata={"annotations": {OPEN_FAULTS: text}})


def entry(gpu: int | None = None, *, uid: str = "u", **more: Any) -> OpenEntry:
    since = START + asyncio.get_running_loop().time()
    return OpenEntry(fault="f-1", uid=uid, class_name="c", since=since, gpu=gpu, **more)


def state(rig: Rig, name: str = "p") -> dict[str, Any]:
    [found] = rig.pod(name)["status"]["containerStatuses"]
    return dict(found)


def code(rig: Rig, name: str = "p") -> int | None:
    """Return the exit code with which a container has ended, or had ended before it was started again."""
    found = state(rig, name)
    end = found["state"].get("terminated") or (found.get("lastState") or {}).get("terminated")
    return end["exitCode"] if end else None


def warnings(rig: Rig, reason: str) -> list[str]:
    return [
        each["message"] for each in rig.cluster.objects.values() if each.get("reason") == reason
    ]


def warned(rig: Rig) -> list[str]:
    """Return the names of the pods that were warned of faults without effect."""
    events = rig.cluster.objects.values()
    found = [each for each in events if each.get("reason") == "FaultWithoutEffect"]
    return [each["involvedObject"]["name"] for each in found]


def programmed(body: dict[str, Any], text: str = "run=100s", **more: str) -> dict[str, Any]:
    body["metadata"]["annotations"] = {"kwokctl.dev/program": text, **more}
    return body


def test_the_pod_with_the_device_fails_and_its_neighbour_does_not() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, machine())
        for name in ("a", "b"):
            rig.cluster.put(PODS, gpu_pod(name, 4))
            await asyncio.sleep(5)
        show(rig, entry(6, workload=XID))
        await asyncio.sleep(4)
        assert (code(rig, "a"), code(rig, "b")) == (None, None)
        await asyncio.sleep(2)
        assert (code(rig, "a"), code(rig, "b")) == (None, 134)
        assert "running" in state(rig, "a")["state"]


def test_the_pod_of_a_gpu_that_is_missing_is_still_known() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, machine())
        rig.cluster.put(PODS, gpu_pod(gpus=8))
        await asyncio.sleep(5)
        rig.cluster.change(
            NODES, "n", metadata={"annotations": {"kwokctl.dev/device-health": "missing=7"}}
        )
        await asyncio.sleep(5)
        assert rig.node()["status"]["capacity"]["nvidia.com/gpu"] == "7"
        show(rig, entry(7, workload=XID))
        await asyncio.sleep(6)
        assert code(rig) == 134


def test_a_pod_that_starts_later_on_the_device_fails_and_one_that_starts_afterwards_runs() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, machine())
        show(rig, entry(0, workload=XID))
        await asyncio.sleep(60)
        rig.cluster.put(PODS, programmed(gpu_pod("early", restartPolicy="Never")))
        await asyncio.sleep(10)
        assert code(rig, "early") == 134
        assert rig.pod("early")["status"]["phase"] == "Failed"

        show(rig)
        await asyncio.sleep(1)
        rig.cluster.put(PODS, gpu_pod("late"))
        await asyncio.sleep(60)
        assert code(rig, "late") is None
        assert rig.pod("late")["status"]["phase"] == "Running"


def test_a_program_hangs_until_the_node_says_that_it_does_not() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        rig.cluster.put(PODS, programmed(pod(restartPolicy="Never")))
        await asyncio.sleep(10)
        show(rig, entry(workload=HANG))
        await asyncio.sleep(1000)
        assert "running" in state(rig)["state"]
        show(rig)
        await asyncio.sleep(85)
        assert "running" in state(rig)["state"]
        await asyncio.sleep(10)
        assert rig.pod()["status"]["phase"] == "Succeeded"


def test_a_fault_that_shows_more_signals_wakes_no_pods() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(10)
        shown = entry(workload=HANG)
        show(rig, shown)
        await asyncio.sleep(1)
        reads = rig.cluster.writes.count(("list", "spec.nodeName=n"))
        show(rig, replace(shown, shown=1))
        await asyncio.sleep(1)
        assert rig.cluster.writes.count(("list", "spec.nodeName=n")) == reads
        show(rig)
        await asyncio.sleep(1)
        assert rig.cluster.writes.count(("list", "spec.nodeName=n")) == reads + 1


def test_a_pod_is_refused_while_the_fault_is_open() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        rig.cluster.put(PODS, pod("before"))
        await asyncio.sleep(10)
        show(rig, entry(pod=PodEffect(fails="admission", message="no devices")))
        rig.cluster.put(PODS, pod("during"))
        await asyncio.sleep(10)
        status = rig.pod("during")["status"]
        assert (status["phase"], status["reason"]) == ("Failed", "UnexpectedAdmissionError")
        assert status["message"] == "Pod was rejected: no devices"
        assert rig.pod("before")["status"]["phase"] == "Running"
        show(rig)
        await asyncio.sleep(1)
        rig.cluster.put(PODS, pod("after"))
        await asyncio.sleep(10)
        assert rig.pod("after")["status"]["phase"] == "Running"


def test_a_deleted_pod_ends_now_when_what_held_it_is_gone() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(10)
        show(rig, entry(pod=PodEffect(fails="termination")))
        metadata = {"deletionTimestamp": "2026-01-01T12:00:40Z", "deletionGracePeriodSeconds": 30}
        rig.cluster.change(PODS, "p", "ns", metadata=metadata)
        await asyncio.sleep(600)
        assert ("delete", "p") not in rig.cluster.writes
        show(rig)
        await asyncio.sleep(5)
        assert ("delete", "p") in rig.cluster.writes


def gang_of(rig: Rig, *, over: str = "n m", **annotations: str) -> None:
    """Put a pod of a gang on each node, and one that is of none."""
    for name in over.split():
        rig.cluster.put(NODES, node(name))
    more = {"kwokctl.dev/gang": "train", **annotations}
    rig.cluster.put(PODS, programmed(pod("one", restartPolicy="Never"), **more))
    rig.cluster.put(PODS, programmed(pod("two", on="m", restartPolicy="Never"), **more))
    rig.cluster.put(PODS, programmed(pod("alone", on="m", restartPolicy="Never")))


def test_all_pods_of_a_gang_fail_also_on_other_nodes() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        gang_of(rig)
        await asyncio.sleep(10)
        show(rig, entry(workload=replace(XID, gang=True)))
        await asyncio.sleep(7)
        assert [code(rig, each) for each in ("one", "two", "alone")] == [134, 134, None]

        # The next pod of the gang is on a node that is well.
        more = {"kwokctl.dev/gang": "train"}
        rig.cluster.put(PODS, programmed(pod("again", on="m", restartPolicy="Never"), **more))
        await asyncio.sleep(60)
        assert code(rig, "again") is None


def test_a_fault_that_is_not_one_of_the_gang_hits_one_pod() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        gang_of(rig)
        await asyncio.sleep(10)
        show(rig, entry(workload=XID))
        await asyncio.sleep(30)
        assert [code(rig, each) for each in ("one", "two", "alone")] == [134, None, None]


def test_a_gang_hangs_together_and_goes_on_together() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        gang_of(rig)
        await asyncio.sleep(10)
        show(rig, entry(workload=replace(HANG, gang=True)))
        await asyncio.sleep(500)
        assert phases_of(rig) == ["Running", "Running", "Succeeded"]
        show(rig)
        await asyncio.sleep(80)
        assert rig.pod("two")["status"]["phase"] == "Running"
        await asyncio.sleep(20)
        assert [rig.pod(each)["status"]["phase"] for each in ("one", "two")] == ["Succeeded"] * 2


def test_a_pod_that_is_told_before_the_node_says_it_hangs_when_the_node_does() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        gang_of(rig)
        await asyncio.sleep(10)
        open_ = entry(workload=replace(HANG, gang=True))
        show(rig, open_)
        await asyncio.sleep(1)
        show(rig)
        await asyncio.sleep(1)
        assert "kwokctl.dev/gang-faults" in rig.pod("two")["metadata"]["annotations"]
        show(rig, open_)
        await asyncio.sleep(500)
        assert rig.pod("two")["status"]["phase"] == "Running"


def test_the_watchdogs_of_a_gang_end_all_of_it() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        gang_of(rig, **{"kwokctl.dev/watchdog": "1m"})
        await asyncio.sleep(10)
        show(rig, entry(workload=replace(HANG, gang=True)))
        await asyncio.sleep(55)
        assert [code(rig, each) for each in ("one", "two")] == [None, None]
        await asyncio.sleep(10)
        assert [code(rig, each) for each in ("one", "two", "alone")] == [134, 134, None]


def test_a_gang_is_hit_whose_pods_two_controllers_play() -> None:
    async def whole() -> None:
        cluster = FakeCluster(NODES, PODS, LEASES)
        first, second = (
            Rig(cluster=cluster, holder=name, has_kubelet_pods=True) for name in ("a_1", "b_2")
        )
        async with first.running(), second.running():
            first.foreign("n", holder="a_1")
            first.foreign("m", holder="b_2")
            gang_of(first)
            await asyncio.sleep(10)
            assert holders(cluster) == {"n": "a_1", "m": "b_2"}

            show(first, entry(workload=replace(HANG, gang=True)))
            await asyncio.sleep(500)
            assert phases_of(first) == ["Running", "Running", "Succeeded"]
            show(first)
            await asyncio.sleep(120)
            assert phases_of(first) == ["Succeeded"] * 3

    run(whole())


def holders(cluster: FakeCluster) -> dict[str, str]:
    return {
        name: body["spec"]["holderIdentity"]
        for (plural, _, name), body in cluster.objects.items()
        if plural == LEASES.plural
    }


def phases_of(rig: Rig) -> list[str]:
    return [rig.pod(each)["status"]["phase"] for each in ("one", "two", "alone")]


def test_a_pod_whose_program_is_not_known_is_warned_of_once() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        rig.cluster.put(PODS, pod())
        rig.cluster.put(PODS, programmed(pod("known")))
        await asyncio.sleep(10)
        show(rig, entry(workload=HANG))
        await asyncio.sleep(5)
        show(rig, entry(workload=replace(HANG, after="1s")))
        await asyncio.sleep(5)
        [warning] = warnings(rig, "FaultWithoutEffect")
        assert warned(rig) == ["p"]
        assert "Fault 'f-1' (hang) has no effect on container 'c'" in warning
        assert "kwokctl.dev/program" in warning


def test_a_pod_that_stages_play_is_warned_of() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(10)
        show(rig, entry(3, workload=XID))
        await asyncio.sleep(5)
        assert not warnings(rig, "FaultWithoutEffect")
        show(rig, entry(workload=XID))
        await asyncio.sleep(5)
        [warning] = warnings(rig, "FaultWithoutEffect")
        assert "kwokctl.dev/life: kubelet" in warning
        assert rig.pod()["status"]["phase"] == "Running"


@pytest.mark.parametrize(
    "fails", ["app-container", "memory-limit", "image-pull", "termination", "admission"]
)
def test_a_pod_that_stages_play_is_warned_of_each_failure_of_pods(fails: Any) -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(10)
        show(rig, entry(pod=PodEffect(fails=fails, pods=("another",))))
        await asyncio.sleep(5)
        assert warned(rig) == []
        show(rig, entry(pod=PodEffect(fails=fails)))
        await asyncio.sleep(5)
        assert warned(rig) == ["p"]


@pytest.mark.parametrize("text", ["", "[", '[{"fault": 1}]', "{}", '"x"'])
def test_an_annotation_that_is_none_is_as_if_it_were_not_there(text: str) -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node(annotations={OPEN_FAULTS: text}))
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(10)
        assert rig.pod()["status"]["phase"] == "Running"
