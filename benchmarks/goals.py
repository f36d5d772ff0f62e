"""What the benchmarks of the data plane are held against: each row, its goal, and kwokctl of Go."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    what: str
    """`{count}` is replaced by the number of measured objects, `{nodes}` by that of their nodes."""
    unit: str
    count: int
    """The number of objects that the goal is for."""
    nodes: int = 0
    """The number of their nodes, where it differs."""
    goal: float | None = None
    """The upper bound; None where a figure is only reported."""
    original: str = ""
    """What kwokctl and kwok, written in Go, need for it on such a machine."""
    each: str = ""
    """The unit that the programs' CPU is given per; empty if it is not given."""


ROWS: Mapping[str, Row] = {
    "nodes": Row(
        "`scale node --replicas {count}`, to all Ready and free of the not-ready taint",
        "s", 10_000, goal=6, original="144 s", each="node",
    ),
    "nodes-watched": Row(
        "the same while another client watches all nodes and pods", "s", 10_000, each="node"
    ),
    "gap-nodes": Row(
        "the same: nodes that are there and not Ready yet, at most at a time", "", 10_000, goal=5
    ),
    "playing-share": Row(
        "the same: CPU that playing their Stages adds to the command, of the time that it takes", "%", 10_000, goal=10
    ),
    "shape": Row(
        "`scale dgx-h100 --replicas {count}`, nodes with labels, devices and places, in times of as many plain ones",
        "", 10_000, goal=1.7,
    ),
    "shape-bytes": Row("the same: a node in etcd", "KB", 10_000, goal=6),
    "shape-memory": Row("the same: memory of the API server", "MB", 10_000),
    "shape-dialect": Row(
        "`scale dgx-h100 --replicas {count}`, nodes with 24 conditions each, in times of as many plain ones",
        "", 10_000, goal=2.5,
    ),
    "shape-dialect-bytes": Row("the same: a node in etcd", "KB", 10_000, goal=11),
    "shape-dialect-memory": Row("the same: memory of the API server", "MB", 10_000),
    "nodes-50000": Row(
        "`scale node --replicas {count}`, with heartbeats stretched, to all Ready and free of the not-ready taint",
        "s", 50_000, each="node",
    ),
    "memory-50000": Row("the same: memory of all programs", "MB", 50_000, goal=24 * 2**30 / 1e6),
    "one-node": Row(
        "`scale pod --replicas {count}` with a node given, to all Running",
        "s", 100_000, goal=45, original="636 s", each="pod",
    ),
    "spread": Row(
        "{count} pods spread over {nodes} nodes, to all Running",
        "s", 100_000, nodes=10_000, goal=50, each="pod",
    ),
    "gap": Row(
        "the same: pods that are there and not Running yet, at most at a time", "", 100_000, nodes=10_000, goal=5
    ),
    "deletion": Row(
        "`scale pod --replicas 0` from {count}, to none left",
        "s", 100_000, goal=60, original="about 810 s", each="pod",
    ),
    "again": Row(
        "{count} pods more on the same {nodes} nodes, an established cluster by now, to all Running",
        "s", 20_000, nodes=10_000, each="pod",
    ),
    "idle-controller": Row(
        "{count} nodes, idle: CPU of the controller, of one core",
        "%", 10_000, goal=3, original="8 %, a renewal per 50 s",
    ),
    "idle": Row(
        "{count} nodes, idle: CPU of the whole control plane, of one core",
        "%", 10_000, goal=25, original="50 %, a renewal per 50 s",
    ),
    "deployment": Row(
        "Deployment of {count} pods on {nodes} nodes through the scheduler, to all Running",
        "s", 5_000, nodes=1_000, goal=32, original="39.8 s", each="pod",
    ),
    "deployment-cpu": Row(
        "the same: CPU of the controller for each of {count} pods",
        "ms", 5_000, goal=0.4, original="2 ms",
    ),
    "memory": Row(
        "memory of the controller at {nodes} nodes and {count} pods", "MB", 100_000, nodes=10_000, goal=500
    ),
    "boot-command": Row(
        "`scale node --replicas {count}` without `--wait`, of nodes that boot in 5 to 15 s by a Stage, to its end",
        "s", 10_000, goal=6,
    ),
    "boot-late": Row("the same: the last of {count} nodes Ready after its time", "s", 10_000, goal=5),
    "boot": Row(
        "the same: the last of {count} nodes Ready and free of the not-ready taint", "s", 10_000, goal=60, each="node"
    ),
    "general": Row(
        "{count} pods of the general set, each Stage with its delay, spread over {nodes} nodes, to all Running",
        "s", 100_000, nodes=10_000, goal=180, each="pod",
    ),
    "fast-beside": Row(
        "as many pods of the fast set, in the same run, to all Running", "s", 100_000, nodes=10_000, each="pod"
    ),
    "general-cpu": Row("the same: CPU of the controller for each of {count} pods", "ms", 100_000, goal=0.5),
    "general-memory": Row(
        "the same: memory of the controller at {nodes} nodes and {count} pods", "MB", 100_000, nodes=10_000, goal=350
    ),
    "waiting": Row(
        "{count} pods that wait for their Stage: what they add to the CPU of the controller, of one core",
        "%", 100_000, nodes=1_000, goal=0.1,
    ),
    "transitions-fast": Row(
        "a transition of the fast set, without transport: CPU of the controller", "µs", 10_000, goal=55.6
    ),
    "transitions-general": Row(
        "a transition of the general set, without transport: CPU of the controller", "µs", 10_000, goal=62.5
    ),
    "matching": Row(
        "finding the Stages of a pod beside {count} Stages of other kinds, in times of without them", "", 500, goal=1.05
    ),
    "rounds-share": Row(
        "metrics-server through {nodes} nodes with {count} pods every 15 s: CPU of the kubelet server, of one core",
        "%", 10_000, nodes=1_000, goal=10,
    ),
    "rounds-share-failed": Row("the same: requests that failed", "", 10_000, nodes=1_000, goal=0),
    "rounds": Row(
        "a round of metrics-server through {nodes} nodes with {count} pods",
        "s", 100_000, nodes=10_000, goal=30,
    ),
    "rounds-failed": Row("the same: requests that failed", "", 100_000, nodes=10_000, goal=0),
    "rounds-cpu": Row("the same: CPU of the kubelet server", "s", 100_000, nodes=10_000, goal=15),
    "rounds-delay": Row(
        "the same: how much later than an idle process the controller answers, in 99.9 % of requests",
        "ms", 100_000, nodes=10_000, goal=50,
    ),
    "streams": Row(
        "{count} `kubectl logs -f` at 10 lines a second, beside 50 sessions of `kubectl exec`: CPU of the kubelet server, of one core",
        "%", 200, nodes=100, goal=12,
    ),
    "streams-delay": Row(
        "the same: how much later than an idle process the controller answers, in 99.9 % of requests",
        "ms", 200, nodes=100, goal=50,
    ),
    "mark": Row("a mark of a cluster with {count} nodes, within the process", "s", 10, goal=0.1),
    "rewind-few": Row(
        "a rewind of {count} objects, within the process: thirds were created, patched and deleted, a tenth are pods",
        "s", 100, goal=0.3,
    ),
    "rewind": Row("the same of {count} objects", "s", 3_000, goal=1.2),
    "rewind-acts": Row(
        "a rewind of {count} such objects, until a Deployment that is created at its end has its ReplicaSet",
        "s", 100, goal=0.3,
    ),
    "rewind-command": Row("`snapshot rewind` of {count} such objects, a command", "s", 100, goal=0.8),
    "mark-beside": Row("a mark of a cluster with {count} pods on {nodes} nodes", "s", 100_000, nodes=1_000),
    "rewind-beside": Row(
        "a rewind of 100 such objects beside {count} pods on {nodes} nodes", "s", 100_000, nodes=1_000, goal=2
    ),
    "fork": Row(
        "`create cluster --from` one with {count} nodes, to all ready: how much longer than a new one", "s", 1_000, goal=0.4
    ),
    "forks-8": Row("{count} forks at once of one with {nodes} nodes, to all ready", "s", 8, nodes=1_000),
    "forks-8-memory": Row(
        "the same: memory of all programs at their peaks, of what the command says that they take at most",
        "%", 8, nodes=1_000, goal=100,
    ),
    "test": Row("a test of the example project, which changes {count} objects", "s", 50, goal=0.6),
    "test-rewind": Row("the same: the rewind before it", "s", 50, goal=0.25),
    "documents-save": Row(
        "`snapshot save --format k8s` of {count} pods on {nodes} nodes", "s", 10_000, nodes=100
    ),
    "documents-restore": Row(
        "`snapshot restore --format k8s` of {count} pods on {nodes} nodes, to all Running",
        "s", 10_000, nodes=100,
    ),
    "documents-ratio": Row(
        "both together, in times of what `scale` takes for as many", "", 10_000, nodes=100, goal=2
    ),
    "start": Row(
        "`start cluster --wait` with {nodes} nodes and {count} pods: how much longer than with none",
        "s", 100_000, nodes=10_000,
    ),
    "start-api": Row(
        "the same: how much later the API server is ready", "s", 100_000, nodes=10_000
    ),
    "start-late": Row(
        "the same: how much later than the scheduler the controller is ready", "s", 100_000, nodes=10_000, goal=0
    ),
    "start-cpu": Row("the same: CPU of all programs until then", "s", 100_000, nodes=10_000),
    "start-cpu-empty": Row("the same, with no nodes and pods", "s", 100_000, nodes=10_000),
    "start-memory": Row("the same: memory of the controller at its peak", "MB", 100_000, nodes=10_000),
    "restore": Row(
        "`snapshot restore` of {count} pods on {nodes} nodes, to all components ready",
        "s", 100_000, nodes=10_000,
    ),
    "restore-over-start": Row(
        "the same: how much longer than `start cluster --wait` with the same data", "s", 100_000, nodes=10_000, goal=3
    ),
    "taken-over-killed": Row(
        "one of two controllers, with {count} of {nodes} nodes and Leases of 40 s, is killed, to none left without another",
        "s", 600, nodes=1_200, goal=42,
    ),
    "taken-over-ended": Row("the same: it gets SIGTERM", "s", 600, nodes=1_200, goal=3),
    "taken-over-joined": Row(
        "the same: another controller joins, until all have equally many nodes within 20 %", "s", 600, nodes=1_200, goal=80
    ),
    "taken-over-lost": Row(
        "the same, all of it: nodes that were ever NotReady again", "", 600, nodes=1_200, goal=0
    ),
    "soak": Row(
        "memory of the controller after {count} s of 100 pods a second, beside minute 10",
        "%", 1_800, goal=5,
    ),
    "soak-lost": Row("the same: how often a node was NotReady", "", 1_800, goal=0),
    "soak-stuck": Row("the same: pods that were stuck", "", 1_800, goal=0),
}  # fmt: skip

GROWTH = (1_000, 2_000, 5_000, 10_000, 20_000)
"""Nodes of the clusters whose times are put side by side."""
DOUBLED = 2.2
"""How many times as long the largest fleet may take as one of half its size, at most."""


def growth_row(nodes: int) -> str:
    """Return the name of the figure for so many nodes."""
    return f"growth-{nodes}"
