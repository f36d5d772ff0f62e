"""A part of a fleet breaks at once: exactly these nodes are touched, what was foreseen happens, and a remediator stops in time."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.installed import PATIENCE, Installed, condition, until

pytestmark = [pytest.mark.components, pytest.mark.e2e, pytest.mark.timeout(600, func_only=True)]

EXAMPLE = Path(__file__).parents[2] / "examples/faults/demonstrations"
NODES, SILENT = 60, 6
"""More than the 50 up to which a controller-manager takes a cluster for small, and evicts from it otherwise."""
RATES = {"all": "100", "one": "0.008"}
"""By the name of a cluster, how many silent nodes its controller-manager taints a second: all at once, or one and the next two minutes later.

It spends what the rate allows before it looks at a node, and in vain where its cache still has that node as Ready
(`RateLimitedTimedQueue.Try`, and the taint manager's function in node_lifecycle_controller.go): then the first is two minutes late.
"""
TIMES = (
    "kube-controller-manager=node-monitor-grace-period=15s",
    "kube-controller-manager=node-monitor-period=2s",
    "kube-apiserver=default-unreachable-toleration-seconds=5",
)
UNREACHABLE = "node.kubernetes.io/unreachable"


class Seen(NamedTuple):
    """The nodes and pods of a cluster, without what changes by itself."""

    nodes: Mapping[str, Any]
    pods: Mapping[str, Any]


class Parted(NamedTuple):
    """A cluster of which some nodes fell silent."""

    cluster: Installed
    before: Seen
    hit: Collection[str]
    foreseen: int
    """The number of pods that the dry run expects to be evicted."""


@pytest.fixture(scope="module")
def parted(installed: Installed) -> Iterator[Mapping[str, Parted]]:
    """Create the clusters, and part them side by side: a minute of waiting is shared."""
    clusters = {name: installed.called(name) for name in RATES}
    for name, cluster in clusters.items():
        rate = f"kube-controller-manager=node-eviction-rate={RATES[name]}"
        arguments = [word for each in (*TIMES, rate) for word in ("--extra-args", each)]
        beats = ("--node-heartbeat", "real", "--node-lease-duration-seconds", "8")
        usual = ("--etcd-fsync", "off", "--stage", "pod-kubelet", "--disable", "kube-scheduler")
        cluster.ok("create", "cluster", "--wait", *usual, *beats, *arguments)
        dialects = '.dialects = ["azurehpc"]'
        cluster.ok("scale", "dgx-h100", "--replicas", str(NODES), "--param", dialects, "--wait")
        cluster.ok("scale", "pod", "--replicas", str(NODES), "--on-nodes", "all", "--wait")
        # A node that it has seen before its kubelet was there has taken what the rate allows: begin with all of them Ready.
        os.kill(cluster.pids()["kube-controller-manager"], signal.SIGKILL)
        cluster.ok("start", "cluster", "--wait")
    yield {name: _parted(cluster) for name, cluster in clusters.items()}
    for cluster in clusters.values():
        cluster.ok("delete", "cluster")


def _parted(cluster: Installed) -> Parted:
    words = ("unreachable", "--count", str(SILENT), "--seed", "42", "--id", "cut")
    said = cluster.ok("fault", "inject", *words, "--dry-run")
    evicted = re.search(r"(\d+) after 2 min", said)
    assert evicted, said
    before = seen(cluster)
    cluster.ok("fault", "inject", *words, "--wait", "3m")
    rows = map(json.loads, cluster.ok("fault", "log", "cut", "-o", "json").splitlines())
    hit = {each["node"] for each in rows if each["phase"] == "injected"}
    return Parted(cluster, before, hit, int(evicted[1]))


def seen(cluster: Installed) -> Seen:
    return Seen(
        {each["metadata"]["name"]: _node(each) for each in cluster.objects("nodes")},
        {each["metadata"]["name"]: _pod(each) for each in cluster.objects("pods")},
    )


def _node(node: Mapping[str, Any]) -> dict[str, Any]:
    taints = node["spec"].get("taints", [])
    return {
        "labels": node["metadata"]["labels"],
        "taints": sorted(f"{each['key']}:{each['effect']}" for each in taints),
        "conditions": _conditions(node),
        "allocatable": node["status"]["allocatable"],
        "cordoned": node["spec"].get("unschedulable", False),
    }


def _pod(pod: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "uid": pod["metadata"]["uid"],
        "node": pod["spec"]["nodeName"],
        "evicted": "deletionTimestamp" in pod["metadata"],
        "conditions": _conditions(pod),
    }


def _conditions(of: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Return by the type of a condition its status, and when that changed."""
    return {
        each["type"]: (each["status"], each["lastTransitionTime"])
        for each in of["status"]["conditions"]
    }


@pytest.mark.parametrize("name", RATES)
def test_silent_nodes_lose_the_pods_that_were_foreseen_and_return(
    parted: Mapping[str, Parted], name: str
) -> None:
    cluster, before, hit, foreseen = parted[name]
    assert (len(hit), foreseen) == (SILENT, SILENT if name == "all" else 1)

    def is_settled() -> bool:
        found = seen(cluster)
        gone = [each["node"] for each in found.pods.values() if each["evicted"]]
        lost = {node for node, each in found.nodes.items() if each["conditions"]["Ready"][0] == "Unknown"}  # fmt: skip
        tainted = {
            node
            for node, each in found.nodes.items()
            if f"{UNREACHABLE}:NoExecute" in each["taints"]
        }
        return lost == set(hit) and len(gone) == foreseen and set(gone) == tainted

    what = "all are noticed, and the pods that were foreseen are evicted"
    until(what, is_settled, patience=2 * PATIENCE)
    during = seen(cluster)
    cluster.ok("fault", "clear", "cut", "--wait", "3m")
    stays = {each: pod for each, pod in before.pods.items() if not during.pods[each]["evicted"]}

    def has_returned() -> bool:
        found = seen(cluster)
        return (
            all(each["conditions"]["Ready"][0] == "True" for each in found.nodes.values())
            and not any(each["taints"] for each in found.nodes.values())
            and found.pods.keys() == stays.keys()
            and all(each["conditions"]["Ready"][0] == "True" for each in found.pods.values())
        )

    until("all nodes have returned, and the evicted pods are gone", has_returned)
    after = seen(cluster)

    for node in before.nodes.keys() - hit:
        assert before.nodes[node] == during.nodes[node] == after.nodes[node]
    for pod, found in stays.items():
        assert after.pods[pod]["uid"] == found["uid"]
        if found["node"] not in hit:
            assert found == during.pods[pod] == after.pods[pod]
    for node in hit:
        times_are_right(before.nodes[node], during.nodes[node])
        times_are_right(during.nodes[node], after.nodes[node])


def times_are_right(one: Mapping[str, Any], other: Mapping[str, Any]) -> None:
    """Demand that the time of a transition has changed exactly where the status has."""
    conditions = one["conditions"]
    assert conditions.keys() == other["conditions"].keys()
    for kind, (status, time) in conditions.items():
        later, changed = other["conditions"][kind]
        assert (status != later) == (time != changed), kind
        assert time <= changed, kind


def test_a_leaf_that_is_down_touches_exactly_its_nodes(parted: Mapping[str, Parted]) -> None:
    cluster, leaf = parted["all"].cluster, "dgx-h100-leaf-0001"
    before = seen(cluster)
    below = {
        node
        for node, each in before.nodes.items()
        if each["labels"]["fabric.topograph.run/tier-0"] == leaf
    }
    assert 0 < len(below) < NODES

    cluster.ok("fault", "inject", "leaf-down", "--unit", leaf, "--dialect", "dgx", "--seed", "42", "--id", "leaf", "--wait", "3m")  # fmt: skip
    during = seen(cluster)
    cluster.ok("fault", "clear", "leaf", "--wait", "3m")

    assert {node for node in before.nodes if before.nodes[node] != during.nodes[node]} == below
    assert {each["conditions"]["IBLinksProblem"][0] for node, each in during.nodes.items() if node in below} == {"True"}  # fmt: skip
    assert before.pods == during.pods
    assert seen(cluster) == before


@contextmanager
def remediator(cluster: Installed, log: Path) -> Iterator[None]:
    """Run the remediator of the example; what it does is in the log."""
    words = ("--condition", "GpuCount=True", "--stop-at", "20")
    kubeconfig = cluster.workdir / "clusters" / cluster.name / "kubeconfig.yaml"
    with log.open("w") as out:
        process = subprocess.Popen(
            [sys.executable, EXAMPLE / "remediator.py", *words],
            env=cluster.environment | {"KUBECONFIG": str(kubeconfig)}, stdout=out, stderr=out,
        )  # fmt: skip
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def cordoned(cluster: Installed) -> set[str]:
    return {
        each["metadata"]["name"]
        for each in cluster.objects("nodes")
        if each["spec"].get("unschedulable")
    }


def broken(cluster: Installed) -> int:
    return sum(condition(each, "GpuCount") == "True" for each in cluster.objects("nodes"))


def test_a_remediator_stops_when_more_than_a_fifth_of_the_nodes_are_broken(
    parted: Mapping[str, Parted], tmp_path: Path
) -> None:
    cluster, log = parted["all"].cluster, tmp_path / "log"
    fault = ("--config", str(EXAMPLE / "dropped-gpu.yaml"), "fault", "inject", "dropped-gpu")
    shown = ("--set", "gpu=3", "--dialect", "azurehpc", "--seed", "42", "--wait", "3m")

    with remediator(cluster, log):
        cluster.ok(*fault, "--count", "15", "--id", "burst", *shown)
        until("it has stopped", lambda: re.search(f"stopped: .* of {NODES} nodes", log.read_text()))
        assert broken(cluster) == 15
        # It sees them one after the other, or all at once, and does nothing about those beyond the limit.
        assert len(cordoned(cluster)) <= NODES // 5
        cluster.ok("fault", "clear", "burst", "--wait", "3m")
        until("it has taken all of them back", lambda: not cordoned(cluster))
        until("it says so", lambda: "at work again: " in log.read_text())

        cluster.ok(*fault, "--node", "dgx-h100-000007", "--id", "single", *shown)
        until("it is at work", lambda: "drained dgx-h100-000007" in log.read_text())
        assert cordoned(cluster) == {"dgx-h100-000007"}
        cluster.ok("fault", "clear", "single", "--wait", "3m")
        until("it has taken the node back", lambda: not cordoned(cluster))
