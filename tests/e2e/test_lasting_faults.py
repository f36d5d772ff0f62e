"""Faults that stay: they come along when a cluster is stopped, saved, marked or forked, and end when their time is over."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.injected import age, inject, renewed, shows, status, stood
from tests.support.installed import Installed, condition, until

pytestmark = [pytest.mark.components, pytest.mark.e2e, pytest.mark.timeout(900, func_only=True)]

HIT, SPARED = "node-000000", "node-000001"
LEASE = 10.0
"""Seconds between two renewals of the clock: it goes back to one of them."""
AWAY = 20.0
"""Seconds for which a cluster is without its faults: longer than lie between renewals, so that they are noticed."""


@pytest.fixture(scope="module")
def cluster(with_faults: Installed) -> Installed:
    with_faults.ok("scale", "node", "--replicas", "3", "--wait")
    return with_faults


@pytest.fixture
def storm(cluster: Installed) -> Iterator[str]:
    """Return a Fault without an end on one node, to which Kubernetes has reacted; a renewal of the clock has come since."""
    inject(cluster, "storm", "not-ready", target={"nodes": [HIT]}, lasts="1h")
    before = status(cluster, "storm")["clock"]
    until("the clock is kept", lambda: has_clock(cluster))
    # Without a renewal after it, a controller that starts anew would go back to before the fault.
    last = renewed(cluster)
    until("the clock is renewed", lambda: renewed(cluster) > last)
    until("both taints are those of a node that is not ready", lambda: is_tainted(cluster))
    assert before == status(cluster, "storm")["clock"]
    yield "storm"
    cluster.delete("faults", "--all")
    until("the node is healthy", lambda: is_healthy(cluster, HIT))


def has_clock(cluster: Installed) -> bool:
    leases = cluster.objects("leases", "-n", "kube-node-lease")
    return any(each["metadata"]["name"] == "kwokctl-fault-clock" for each in leases)


def is_healthy(cluster: Installed, node: str) -> bool:
    """Return whether a node is Ready, shows no fault, and has lost the taints that the node controller gave it for one."""
    found = cluster.found("nodes", node)
    has_taints = bool(found["spec"].get("taints"))
    return condition(found, "Ready") == "True" and not has_taints and not shows(cluster, node)


def is_hit(cluster: Installed, node: str) -> bool:
    found = cluster.found("nodes", node)
    return condition(found, "Ready") == "False" and bool(shows(cluster, node))


def is_tainted(cluster: Installed) -> bool:
    """Return whether the node controller has tainted the node as not ready; it may have taken it for unreachable before."""
    taints: list[str] = shown(cluster.found("nodes", HIT))["taints"]
    return taints == ["node.kubernetes.io/not-ready"] * 2


def grown(cluster: Installed) -> float:
    """Return the age of the storm after another renewal."""
    before = renewed(cluster)
    until("the clock is renewed", lambda: renewed(cluster) > before)
    return age(cluster, "storm")


def pass_time(seconds: float) -> None:
    """Let time pass in which a cluster does nothing that could be waited for."""
    time.sleep(seconds)


def test_it_goes_on_after_a_stop_as_if_there_had_been_none(cluster: Installed, storm: str) -> None:
    before = age(cluster, storm)
    began = time.monotonic()
    cluster.ok("stop", "cluster")
    pass_time(AWAY)
    stopped = time.monotonic() - began
    cluster.ok("start", "cluster", "--wait")
    until("the node is hit", lambda: is_hit(cluster, HIT))

    whole = time.monotonic() - began
    after = grown(cluster)

    ran = time.monotonic() - began - stopped
    assert before <= after <= before + ran + 2 * LEASE
    assert after < before + whole - AWAY + 2 * LEASE
    assert condition(cluster.found("nodes", SPARED), "Ready") == "True"


def test_a_snapshot_has_the_time_that_was_left(
    cluster: Installed, storm: str, tmp_path: Path
) -> None:
    file = tmp_path / "storm.db"
    before = age(cluster, storm)
    began = time.monotonic()
    cluster.ok("snapshot", "save", "--path", str(file))
    saved = time.monotonic() - began
    pass_time(2 * AWAY)
    cluster.delete("fault", storm)
    until("the node is healthy", lambda: is_healthy(cluster, HIT))

    restoring = time.monotonic()
    cluster.ok("snapshot", "restore", "--path", str(file))
    until("the node is hit", lambda: is_hit(cluster, HIT))
    after = grown(cluster)

    since = time.monotonic() - restoring
    assert before <= after <= before + saved + since + 2 * LEASE


def test_a_snapshot_is_restored_without_its_faults(
    cluster: Installed, storm: str, tmp_path: Path
) -> None:
    file = tmp_path / "storm.db"
    cluster.ok("snapshot", "save", "--path", str(file))

    said = cluster.run("snapshot", "restore", "--path", str(file), "--without-faults")

    assert said.code == 0
    assert "without its 1 Fault" in said.out + said.err
    until("the node is healthy", lambda: is_healthy(cluster, HIT))
    assert cluster.objects("faults") == []
    until("what was stored of them is gone", lambda: cluster.objects("faultpages") == [])


def test_a_rewind_goes_to_before_and_into_a_fault(cluster: Installed) -> None:
    before = cluster.found("nodes", HIT)
    cluster.ok("snapshot", "mark", "healthy")
    inject(cluster, "storm", "not-ready", target={"nodes": [HIT]}, lasts="10m")
    until("the clock is kept", lambda: has_clock(cluster))
    marked = age(cluster, "storm")
    cluster.ok("snapshot", "mark", "hit")
    until("time has passed for the fault", lambda: age(cluster, "storm") > marked + AWAY)
    cluster.delete("fault", "storm")
    until("the node is healthy", lambda: is_healthy(cluster, HIT))

    cluster.ok("snapshot", "rewind", "hit")
    rewound = time.monotonic()
    until("the node is hit", lambda: is_hit(cluster, HIT))
    after = grown(cluster)
    assert marked <= after <= marked + time.monotonic() - rewound + LEASE
    assert shows(cluster, HIT) == {"storm"}

    cluster.ok("snapshot", "rewind", "healthy")
    assert cluster.objects("faults") == []
    until("the node is healthy", lambda: is_healthy(cluster, HIT))
    assert shown(cluster.found("nodes", HIT)) == shown(before)


def shown(node: dict[str, Any]) -> dict[str, Any]:
    """Return what faults may change of a node."""
    return {
        "metadata": {name: node["metadata"].get(name) for name in ("labels", "annotations")},
        "taints": [each["key"] for each in node["spec"].get("taints", ())],
        "conditions": {
            each["type"]: (each["status"], each["reason"]) for each in node["status"]["conditions"]
        },
    }


def test_a_fork_has_the_same_fault(cluster: Installed, storm: str) -> None:
    began, before = time.monotonic(), age(cluster, storm)
    fork = cluster.called("fork")
    fork.ok("create", "cluster", "--from", cluster.name, "--wait")
    try:
        until("the node of the fork is hit", lambda: is_hit(fork, HIT))
        after = grown(fork)
        assert before <= after <= before + time.monotonic() - began + LEASE
        fork.delete("fault", storm)
        until("the node of the fork is healthy", lambda: is_healthy(fork, HIT))
        assert is_hit(cluster, HIT)
    finally:
        fork.ok("delete", "cluster")


_OF_NODE_CONTROLLER = ("RegisteredNode", "NodeNotReady")
OUTAGE = 90.0
"""Seconds in which the API server does not answer: more than a Lease lasts, and a pause of the clock would."""


def traces(cluster: Installed) -> dict[str, Any]:
    """Return what would differ if a fault were cleared, or shown a second time."""
    node, fault = cluster.found("nodes", HIT), cluster.found("faults", "storm")
    events = cluster.objects("events", "-n", "default")
    return {
        **shown(node),
        "transitions": {
            each["type"]: each["lastTransitionTime"] for each in node["status"]["conditions"]
        },
        "events": sorted(
            (each["reason"], each.get("count")) for each in events
            if each["involvedObject"]["name"] == HIT and each["reason"] not in _OF_NODE_CONTROLLER
        ),
        "injected": (fault["metadata"]["uid"], fault["status"]["injectedAt"]),
        "rows": fault["status"]["rows"],
        "phase": fault["status"]["phase"],
    }  # fmt: skip


def without_transitions(found: dict[str, Any]) -> dict[str, Any]:
    """Return traces without the times that Kubernetes' node controller changes: it may take all nodes for lost for a moment."""
    return {name: value for name, value in found.items() if name != "transitions"}


def became_ready(cluster: Installed) -> str:
    """Return when the spared node became ready: if that changes, the node controller has taken all nodes for lost."""
    conditions = cluster.found("nodes", SPARED)["status"]["conditions"]
    return str(next(each["lastTransitionTime"] for each in conditions if each["type"] == "Ready"))


def assert_nothing_changes(cluster: Installed, process: str) -> None:
    """Kill a process and start it again: all that a node and a Fault show is as it was."""
    before, ready = traces(cluster), became_ready(cluster)

    os.kill(cluster.pids()[process], signal.SIGKILL)
    if process == "kube-apiserver":
        pass_time(AWAY)
    cluster.ok("start", "cluster", "--wait")

    grown(cluster)
    until("the other node is healthy", lambda: is_healthy(cluster, SPARED))
    until(
        "all is as before",
        lambda: without_transitions(traces(cluster)) == without_transitions(before),
    )
    if became_ready(cluster) == ready:
        assert traces(cluster)["transitions"] == before["transitions"]


def test_an_api_server_that_stands_still_changes_nothing(cluster: Installed, storm: str) -> None:
    before = without_transitions(traces(cluster))
    young, paused = age(cluster, storm), stood(cluster)

    with cluster.paused("kube-apiserver"):
        pass_time(OUTAGE)

    until("the clock has gone on", lambda: age(cluster, storm) >= young + OUTAGE)
    assert stood(cluster) == paused
    until("all is as before", lambda: without_transitions(traces(cluster)) == before)
    until("the other node is healthy", lambda: is_healthy(cluster, SPARED))


def test_an_api_server_that_is_killed_changes_nothing(cluster: Installed, storm: str) -> None:
    assert_nothing_changes(cluster, "kube-apiserver")


def test_a_controller_that_is_killed_goes_on_where_it_was(cluster: Installed, storm: str) -> None:
    assert_nothing_changes(cluster, "kwok-controller")
