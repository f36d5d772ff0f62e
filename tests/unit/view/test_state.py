"""The present state that a view keeps of the lines of a record."""

from typing import Any

from kwokctl.measure.watching import pods as pod_watching
from kwokctl.view.state import forgetting_texts
from kwokctl.view.state.seen_pods import NOT_STARTED, NOT_TRIED
from tests.support.seen_cluster import SeenCluster

FULL = "0/1 nodes are available: 1 Insufficient cpu."


def waiting(cluster: SeenCluster) -> dict[str, list[str]]:
    return {why: [pod.name for pod in some.values()] for why, some in cluster.pods.waiting.items()}


def test_the_life_of_a_pod_is_counted_step_by_step() -> None:
    cluster = SeenCluster()
    cluster.begin()
    cluster.node("n")
    cluster.pod("a")
    assert waiting(cluster) == {NOT_TRIED: ["a"]}
    cluster.pod("a", message=FULL)
    assert waiting(cluster) == {FULL: ["a"]}
    cluster.pod("a", node="n")
    assert waiting(cluster) == {NOT_STARTED: ["a"]}
    cluster.pod("a", node="n", phase="Running")
    assert waiting(cluster) == {}
    assert cluster.fleet.pods_on("n") == 1
    cluster.pod("a", node="n", phase="Succeeded")
    assert (cluster.fleet.pods_on("n"), cluster.pods.phases["Succeeded"]) == (0, 1)
    cluster.gone("a")
    assert cluster.pods.phases["Succeeded"] == 0
    assert dict(cluster.pods.steps) == {
        "created": 1, "bound": 1, "started": 1, "ended": 1, "deleted": 1
    }  # fmt: skip


def test_pods_that_were_there_before_are_known_and_not_counted_as_new() -> None:
    cluster = SeenCluster()
    cluster.pod("old", node="n", phase="Running", listed=True)
    cluster.pod("waits", message=FULL, listed=True)
    cluster.begin()
    assert cluster.pods.phases["Running"] == 1
    assert waiting(cluster) == {FULL: ["waits"]}
    assert cluster.pods.steps.total() == 0


def test_pods_that_are_deleted_give_back_what_they_took_and_wait_no_longer() -> None:
    cluster = SeenCluster()
    cluster.begin()
    cluster.node("n")
    cluster.pod("a", node="n", phase="Running", cpu="2")
    cluster.pod("b", message=FULL)
    assert cluster.fleet.requested["cpu"] == 2000
    for name in ("a", "b"):
        cluster.gone(name)
    assert cluster.fleet.requested["cpu"] == 0
    assert waiting(cluster) == {}
    assert not cluster.pods.pods


def test_a_node_is_full_when_most_of_one_resource_is_requested() -> None:
    cluster = SeenCluster()
    cluster.begin()
    cluster.node("n")
    cluster.pod("a", node="n", cpu="3")
    assert not cluster.fleet.is_full(cluster.fleet.nodes["n"])
    cluster.pod("b", node="n", cpu="1")
    assert cluster.fleet.is_full(cluster.fleet.nodes["n"])


def test_nodes_that_need_attention_are_those_that_are_not_as_they_should_be() -> None:
    cluster = SeenCluster()
    cluster.node("well")
    cluster.node("late", ready=False)
    cluster.node("closed", cordoned=True)
    cluster.node("ill", faults='[{"fault":"xid-79-a","gpu":1},{"fault":"xid-79-a","gpu":2}]')
    cluster.node("odd", faults="no list")
    assert {node.name for node in cluster.fleet.troubled()} == {"late", "closed", "ill", "odd"}
    assert cluster.fleet.faults == {"ill": "xid-79-a", "odd": "unreadable"}
    cluster.node("ill")
    assert "ill" not in cluster.fleet.faults
    cluster.gone("late")
    assert "late" not in cluster.fleet.nodes
    assert cluster.fleet.allocatable["cpu"] == 4 * 4000


def test_a_node_stands_in_its_rack_or_else_in_its_zone() -> None:
    cluster = SeenCluster()
    cluster.node("placed", place="rack=r-7,leaf=l-1")
    cluster.node("bare")
    assert cluster.fleet.places == {"placed": "r-7", "bare": "zone-a"}
    before = cluster.fleet.layouts
    cluster.node("bare", ready=False)
    assert cluster.fleet.layouts == before
    cluster.node("bare", place="rack=r-8")
    assert cluster.fleet.layouts > before


def test_since_when_a_node_is_as_it_is_does_not_change_with_its_other_fields() -> None:
    cluster = SeenCluster()
    cluster.node("n", ready=False)
    since = cluster.fleet.nodes["n"].since
    cluster.node("n", ready=False, faults='[{"fault":"x"}]')
    assert cluster.fleet.nodes["n"].since == since
    cluster.node("n")
    assert cluster.fleet.nodes["n"].since > since


def test_what_is_known_does_not_grow_with_the_number_of_jobs_and_messages(
    monkeypatch: Any,
) -> None:
    monkeypatch.setattr(pod_watching, "MOST_SHAPES", 10)
    monkeypatch.setattr("kwokctl.view.state.seen_pods.MOST_SHAPES", 10)
    monkeypatch.setattr(forgetting_texts, "MOST_TEXTS", 10)
    monkeypatch.setattr("kwokctl.view.state.seen_pods.MOST_TEXTS", 10)
    cluster = SeenCluster()
    cluster.begin()
    cluster.pod("stays", message="a first message")
    for number in range(100):
        name, why = f"p{number}", f'claim "c{number}" not found'
        cluster.pod(name, owner=f"job-{number}", cpu=f"{number + 1}")
        cluster.pod(name, owner=f"job-{number}", message=why)
        assert waiting(cluster) == {"a first message": ["stays"], why: [name]}
        assert cluster.pods.pods[number + 2].requests == f"cpu={number + 1}"
        cluster.gone(name)
    cluster.pod("stays", message="a first message")
    assert waiting(cluster) == {"a first message": ["stays"]}
    assert len(cluster.pods._texts) <= 12
    assert len(cluster.pods._shapes) <= 11
    assert not cluster.fleet._uses
