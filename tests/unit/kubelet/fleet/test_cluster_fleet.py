import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import pytest

from kwokctl.embedded.http.messages import NoAnswerError
from kwokctl.embedded.selection import Selection, select
from kwokctl.embedded.silence import KUBELET
from kwokctl.errors import ApiError
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import NODES, PODS
from kwokctl.kube.transport.pool import Pool
from kwokctl.kubelet.fleet.cluster_fleet import ClusterFleet
from tests.support.cluster_server import ClusterServer
from tests.support.eventually import eventually
from tests.support.fake_api_server import serving
from tests.support.fake_cluster import FakeCluster
from tests.support.hit_nodes import hit, hit_by

FAKE = select(annotation_selector="kwok.x-k8s.io/node=fake", label_selector="type=kwok")


def node(name: str, *, fake: bool = True, address: str = "127.0.0.9") -> dict[str, Any]:
    annotations = {"kwok.x-k8s.io/node": "fake"} if fake else {}
    metadata = {"name": name, "annotations": annotations, "labels": {"type": "kwok"}}
    addresses = [{"type": "InternalIP", "address": address}]
    return {"metadata": metadata, "status": {"addresses": addresses}}


def pod(name: str, on: str) -> dict[str, Any]:
    spec = {"nodeName": on, "containers": [{"name": "c"}]}
    return {"metadata": {"name": name, "namespace": "default"}, "spec": spec}


@asynccontextmanager
async def fleet_of(
    cluster: FakeCluster, selection: Selection = FAKE
) -> AsyncIterator[tuple[ClusterFleet, ClusterServer]]:
    server = ClusterServer(cluster)
    async with serving(server) as at, Pool(Access(server=at.url)) as pool:
        fleet = ClusterFleet(Client(pool), selection, Random(1))
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(fleet.run())
            yield fleet, server
            running.cancel()


@pytest.fixture
def cluster() -> FakeCluster:
    made = FakeCluster(NODES, PODS)
    made.put(NODES, node("a"))
    made.put(NODES, node("real", fake=False))
    made.put(PODS, pod("one", "a"))
    made.put(PODS, pod("other", "real"))
    made.put(PODS, pod("waiting", ""))
    return made


async def test_single_pods_are_asked_for_while_nothing_is_watched(cluster: FakeCluster) -> None:
    async with fleet_of(cluster) as (fleet, server):
        found = await fleet.pod("default", "one")
        assert found is not None
        assert (found.name, found.node) == ("one", "a")
        for name in ("other", "waiting", "gone"):
            assert await fleet.pod("default", name) is None
        assert fleet.count() == (0, 0)
        server.is_away = True
        with pytest.raises(ApiError):
            await fleet.pod("default", "one")


async def test_all_are_watched_once_that_is_needed(cluster: FakeCluster) -> None:
    async with fleet_of(cluster) as (fleet, _):
        async with asyncio.timeout(60):
            await fleet.watched()
        assert [each.name for each in fleet.nodes()] == ["a"]
        assert [each.name for each in fleet.pods_on("a")] == ["one"]
        assert [each.name for each in fleet.nodes_at("127.0.0.9")] == ["a"]
        assert await fleet.pod("default", "other") is None

        cluster.put(PODS, pod("two", "b"))
        cluster.put(NODES, node("b", address="127.0.0.8"))
        await eventually(lambda: fleet.node("b") and len(list(fleet.pods_on("b"))) == 1)
        assert await fleet.pod("default", "two")
        cluster.remove(PODS, "two", "default")
        cluster.remove(NODES, "b")
        await eventually(lambda: fleet.count() == (1, 2))
        assert not list(fleet.nodes_at("127.0.0.8"))
        assert not list(fleet.pods_on("b"))


async def test_a_listener_is_told_which_node_has_changed(cluster: FakeCluster) -> None:
    async with fleet_of(cluster) as (fleet, _):
        notified: list[str] = []
        fleet.listen(notified.append)
        async with asyncio.timeout(60):
            await fleet.watched()
        notified.clear()
        cluster.put(PODS, pod("two", "a"))
        await eventually(lambda: notified == ["a"])
        cluster.remove(PODS, "two", "default")
        await eventually(lambda: notified == ["a", "a"])
        cluster.put(NODES, node("b"))
        await eventually(lambda: notified[2:] == ["b"])


async def test_the_name_and_the_labels_of_nodes_count_for_single_pods(cluster: FakeCluster) -> None:
    for selection in (select(single_node="real"), select(label_selector="type=other")):
        async with fleet_of(cluster, selection) as (fleet, _):
            assert await fleet.pod("default", "one") is None


@pytest.mark.parametrize("is_watched", [True, False])
@pytest.mark.parametrize(
    "silence",
    [
        {KUBELET: "silent"},
        hit_by(hit("x"), hit(kubelet="silent")),
        hit_by(hit(kubelet="rebooting")),
    ],
)
async def test_a_silent_kubelet_does_not_answer_until_it_is_back(
    cluster: FakeCluster, is_watched: bool, silence: Mapping[str, str]
) -> None:
    cluster.change(NODES, "a", metadata={"annotations": dict(silence)})
    async with fleet_of(cluster) as (fleet, _):
        if is_watched:
            async with asyncio.timeout(60):
                await fleet.watched()
        with pytest.raises(NoAnswerError, match="node 'a'"):
            await fleet.pod("default", "one")
        assert await fleet.pod("default", "gone") is None

        cluster.change(NODES, "a", metadata={"annotations": dict.fromkeys(silence)})
        await eventually(lambda: not is_watched or not silence.keys() & _annotations(fleet, "a"))
        assert await fleet.pod("default", "one") is not None


async def test_a_kubelet_that_is_not_ready_answers(cluster: FakeCluster) -> None:
    not_ready = dict(hit_by(hit(kubelet="not-ready")))
    cluster.change(NODES, "a", metadata={"annotations": not_ready})
    async with fleet_of(cluster) as (fleet, _):
        assert await fleet.pod("default", "one") is not None


def _annotations(fleet: ClusterFleet, name: str) -> Any:
    node = fleet.node(name)
    assert node is not None
    return node.annotations
