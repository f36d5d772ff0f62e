import asyncio
from typing import Any

import pytest

from kwokctl.errors import TimedOutError
from kwokctl.waits import Standstill
from tests.support.listener import Listener
from tests.support.memory_cluster import MemoryCluster
from tests.support.scaled_sets import running, scale


def test_progress_shows_what_is_created_and_waited_for() -> None:
    cluster, listener = MemoryCluster(on_create=running), Listener()

    scale(cluster, listener, kind="pod", replicas=30, wait=10)
    scale(cluster, listener, kind="pod", replicas=29, wait=10)

    assert [(step.title, step.done, step.total, step.unit) for step in listener.steps] == [
        ("Creating 30 pods", 30, 30, "pods"),
        ("Waiting until 30 pods are Running", 30, 30, "pods"),
        ("Deleting 1 pod, down to 29", 1, 1, "pods"),
        ("Waiting until 29 pods are Running", 29, 29, "pods"),
    ]


def test_a_wait_without_end_names_the_laggards() -> None:
    cluster = MemoryCluster()

    with pytest.raises(
        TimedOutError, match="2 pods of the set 'pod' are not Running after 5 s"
    ) as caught:
        scale(cluster, kind="pod", replicas=2, wait=5)

    assert caught.value.detail == "pod-000000 is Pending\npod-000001 is Pending"
    assert cluster.names("Pod") == ["pod-000000", "pod-000001"]


def test_only_some_laggards_are_named() -> None:
    with pytest.raises(TimedOutError) as caught:
        scale(MemoryCluster(), kind="pod", replicas=1013, wait=1)

    lines = (caught.value.detail or "").splitlines()
    assert lines[0] == "pod-000000 is Pending"
    assert lines[-1] == "and 1,003 more"
    assert len(lines) == 11


def test_pods_on_a_node_that_does_not_exist_are_reported_with_that_reason() -> None:
    cluster, listener = MemoryCluster(), Listener()
    cluster.put("Node", "here")

    for node, reason in (("gone", ": its node 'gone' does not exist"), ("here", "")):
        with pytest.raises(TimedOutError) as caught:
            scale(cluster, listener, kind="pod", name=node, params=(f'.nodeName="{node}"',), wait=7)

        assert caught.value.detail == f"{node}-000000 is Pending{reason}"
        assert listener.steps[-1].said == [f"{node}-000000 is Pending{reason}"]


def test_shrinking_to_nothing_waits_until_nothing_is_left() -> None:
    cluster, listener = MemoryCluster(), Listener()
    scale(cluster, kind="pod", replicas=2)

    scale(cluster, listener, kind="pod", replicas=0, wait=1)

    assert [step.title for step in listener.steps] == [
        "Deleting 2 pods",
        "Waiting until no pods are left",
    ]


def test_what_exists_already_is_waited_for_as_well() -> None:
    cluster = MemoryCluster()
    scale(cluster, kind="pod", replicas=1)

    with pytest.raises(TimedOutError, match="1 pod of the set 'pod' is not Running"):
        scale(cluster, kind="pod", replicas=1, wait=1)


def test_shrinking_waits_until_finalizers_are_gone() -> None:
    cluster = MemoryCluster(on_create=lambda body: body["metadata"].update(finalizers=["x/y"]))
    scale(cluster, kind="node", replicas=1)

    with pytest.raises(TimedOutError) as caught:
        scale(cluster, kind="node", replicas=0, wait=1)

    assert caught.value.detail == "node-000000 still exists until the finalizer 'x/y' is removed"


def test_what_finalizers_hold_is_counted_unless_it_was_waited_for() -> None:
    cluster = MemoryCluster(on_create=lambda body: body["metadata"].update(finalizers=["x/y"]))
    scale(cluster, kind="node", replicas=2)

    assert scale(cluster, kind="node", replicas=1).held == 1
    assert scale(cluster, kind="node", replicas=1).held == 1  # it was deleted by the run before


def test_nodes_that_do_not_become_ready_delay_the_others_only_briefly() -> None:
    def taint(body: dict[str, Any]) -> None:
        body["spec"]["taints"] = [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]

    cluster = MemoryCluster(on_create=taint)

    assert scale(cluster, kind="node", replicas=500).created == 500


def test_a_standstill_counts_from_the_last_object_that_became_ready() -> None:
    cluster = MemoryCluster()
    late = [f"pod-{number:06d}" for number in range(4)]

    async def kubelet() -> None:
        while late:
            await asyncio.sleep(250)
            body = cluster.objects["Pod", "default", late.pop()]
            running(body)
            cluster.change(body)

    scale(cluster, kind="pod", replicas=4, wait=Standstill(300), meanwhile=kubelet())

    assert not late


def test_objects_that_come_and_go_do_not_move() -> None:
    cluster = MemoryCluster()

    async def kubelet() -> None:
        while True:
            for phase in ("Running", "Pending"):
                await asyncio.sleep(100)
                body = cluster.objects["Pod", "default", "pod-000000"]
                body["status"] = {"phase": phase}
                cluster.change(body)

    with pytest.raises(TimedOutError, match=r"after 300 s without progress") as caught:
        scale(cluster, kind="pod", replicas=2, wait=Standstill(300), meanwhile=kubelet())

    assert "pod-000001 is Pending" in (caught.value.detail or "")


def test_a_set_that_gets_smaller_moves() -> None:
    cluster = MemoryCluster()
    scale(cluster, kind="pod", replicas=3)
    for body in cluster.objects.values():
        body["metadata"]["finalizers"] = ["a/b"]

    async def finalizer() -> None:
        for name in cluster.names("Pod"):
            await asyncio.sleep(250)
            cluster.remove("Pod", "default", name)

    scale(cluster, kind="pod", replicas=0, wait=Standstill(300), meanwhile=finalizer())

    assert cluster.names("Pod") == []


def test_the_time_for_making_a_set_does_not_count_the_wait() -> None:
    cluster = MemoryCluster()

    async def kubelet() -> None:
        await asyncio.sleep(250)
        body = cluster.objects["Pod", "default", "pod-000000"]
        running(body)
        cluster.change(body)

    assert scale(cluster, kind="pod", wait=300, timeout=60, meanwhile=kubelet()).created == 1


def test_a_set_that_is_not_made_in_time_is_named() -> None:
    class Slow(MemoryCluster):
        async def create(self, *args: Any, **more: Any) -> bytes:
            await asyncio.sleep(61)
            return await super().create(*args, **more)

    cluster = Slow()

    with pytest.raises(TimedOutError, match="scaling 'pod' to 2 pods was not done after 60 s"):
        scale(cluster, kind="pod", replicas=2, timeout=60)
