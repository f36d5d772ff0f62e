"""Whose nodes and pods are played: those that are managed, and that no other controller holds."""

import asyncio
from collections import Counter

import orjson
import pytest

from kwokctl.dataplane.leases.decode import read_lease
from kwokctl.embedded.selection import select
from kwokctl.errors import ApiError
from kwokctl.kube.resource import LEASES, NODE_LEASES, NODES, PODS
from tests.support.fake_cluster import FakeCluster
from tests.support.fleet_rig import Rig, conditions, node, pod, story
from tests.support.virtual_time import run


def test_pods_of_a_node_that_is_not_managed_are_left_alone() -> None:
    @story(selection=select(annotation_selector="kwok.x-k8s.io/node=fake"))
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node("real"))
        rig.cluster.put(NODES, node("fake", annotations={"kwok.x-k8s.io/node": "fake"}))
        rig.cluster.put(PODS, pod("a", on="real"))
        rig.cluster.put(PODS, pod("b", on="fake"))
        rig.cluster.put(PODS, pod("c", on="nowhere"))
        await asyncio.sleep(5)

        assert {name for verb, name in rig.cluster.writes if verb == "patch"} == {"fake", "b"}


def test_a_node_that_becomes_managed_brings_its_pods() -> None:
    @story(selection=select(annotation_selector="kwok.x-k8s.io/node=fake"))
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(1)
        assert rig.cluster.writes == []

        rig.cluster.change(NODES, "n", metadata={"annotations": {"kwok.x-k8s.io/node": "fake"}})
        await asyncio.sleep(1)
        assert rig.pod()["status"]["phase"] == "Running"
        assert conditions(rig.node())["Ready"]["status"] == "True"

        rig.cluster.change(NODES, "n", metadata={"annotations": {"kwok.x-k8s.io/node": "no"}})
        rig.cluster.put(PODS, pod("later"))
        await asyncio.sleep(60)
        assert rig.pod("later")["status"]["phase"] == "Pending"


def test_pods_that_came_before_their_node_are_read_again() -> None:
    @story()
    async def _(rig: Rig) -> None:
        for number in range(3):
            rig.cluster.put(PODS, pod(f"p{number}"))
        await asyncio.sleep(1)
        rig.cluster.put(NODES, node(ready=True))
        await asyncio.sleep(1)

        assert [rig.pod(f"p{n}")["status"]["phase"] for n in range(3)] == ["Running"] * 3
        assert rig.cluster.verbs("list") == ["spec.nodeName=n"]


def test_reading_a_nodes_pods_again_is_repeated_until_it_succeeds(
    caplog: pytest.LogCaptureFixture,
) -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(1)
        rig.cluster.refuse_reads.extend([ApiError("busy", status=503)] * 3)
        rig.cluster.put(NODES, node(ready=True))
        await asyncio.sleep(20)

        assert rig.pod()["status"]["phase"] == "Running"
        assert len(rig.cluster.verbs("list")) == 4

    assert len([record for record in caplog.records if "pods of node 'n'" in record.message]) == 1


def test_a_node_that_is_gone_before_it_could_be_read_again_is_no_error() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(1)
        rig.cluster.refuse_reads.append(ApiError("not found", status=404, reason="NotFound"))
        rig.cluster.put(NODES, node(ready=True))
        await asyncio.sleep(20)

        assert len(rig.cluster.verbs("list")) == 1


def test_pods_that_are_to_be_disregarded_are_left_alone() -> None:
    @story(selection=select(all_nodes=True, disregard_label_selector="hands=off"))
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node(ready=True))
        body = pod("left")
        body["metadata"]["labels"] = {"hands": "off"}
        rig.cluster.put(PODS, body)
        rig.cluster.put(PODS, pod("run"))
        await asyncio.sleep(5)

        assert rig.cluster.verbs("patch") == ["run"]


def test_nothing_is_written_to_a_node_that_another_controller_holds() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.foreign()
        keeper = rig.controller.keeper
        assert keeper is not None
        keeper.seed([read_lease(orjson.dumps(rig.cluster.object(LEASES, "n", NODE_LEASES)))])
        rig.cluster.put(NODES, node())
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(30)

        assert {verb for verb, _ in rig.cluster.writes} <= {"get"}
        state = rig.controller.pods.get("ns/p")
        assert state is not None
        assert state.raw is None


def test_a_node_that_is_taken_over_brings_its_pods() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.foreign()
        rig.cluster.put(NODES, node())
        await asyncio.sleep(1)
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(10)
        assert rig.pod()["status"]["phase"] == "Pending"

        await asyncio.sleep(35)
        assert rig.pod()["status"]["phase"] == "Running"
        assert conditions(rig.node())["Ready"]["status"] == "True"
        assert rig.cluster.object(LEASES, "n", NODE_LEASES)["spec"]["leaseTransitions"] == 1


def test_two_controllers_share_the_nodes_and_one_takes_over_from_the_other() -> None:
    async def whole() -> None:
        cluster = FakeCluster(NODES, PODS, LEASES)
        first, second = Rig(cluster=cluster, holder="a_1"), Rig(cluster=cluster, holder="b_2")
        async with second.running():
            async with first.running():
                for number in range(20):
                    cluster.put(NODES, node(f"n{number}"))
                    cluster.put(PODS, pod(f"p{number}", on=f"n{number}"))
                await asyncio.sleep(60)
                creates = Counter(name for verb, name in cluster.writes if verb == "patch")
                assert set(creates.values()) == {1}
            first.tell_node = first.tell_pod = lambda *_: None  # type: ignore[method-assign]  # it is dead
            await asyncio.sleep(60)

        leases = [body for key, body in cluster.objects.items() if key[0] == LEASES.plural]
        assert {lease["spec"]["holderIdentity"] for lease in leases} == {"b_2"}
        assert max(lease["spec"]["leaseTransitions"] for lease in leases) == 1
        assert {
            body["status"]["phase"] for k, body in cluster.objects.items() if k[0] == "pods"
        } == {"Running"}

    run(whole())


def test_a_lost_node_and_its_pods_are_left_alone() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node(ready=True))
        await asyncio.sleep(1)
        rig.foreign()
        await asyncio.sleep(12)
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(5)

        assert rig.pod()["status"]["phase"] == "Pending"


def test_a_deleted_node_is_forgotten_with_its_lease_and_its_pods_are_left() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node(ready=True))
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(1)
        rig.cluster.remove(NODES, "n")
        rig.cluster.writes.clear()
        rig.cluster.change(PODS, "p", "ns", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
        await asyncio.sleep(100)

        assert rig.cluster.writes == []
        assert "kwok_controller_leases" in rig.controller.metrics.text()
        assert 'kwok_controller_objects{kind="Node"} 0' in rig.controller.metrics.text()
