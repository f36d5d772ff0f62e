"""Repairs that remediators ask for with objects of NVSentinel's kinds, with and without a janitor that takes them."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from kwokctl.expr.duration import parse_time
from tests.support.injected import inject, phase, shows
from tests.support.installed import Installed, condition, until
from tests.support.janitor import API, KINDS, definition, plural, request
from tests.support.repaired import QUICK, ask, ended, is_healthy, policy, repairs, uid

pytestmark = [pytest.mark.components, pytest.mark.e2e, pytest.mark.timeout(900, func_only=True)]

AFTER = 10
"""Seconds that others have to accept a request."""
ACTIONS = {"RebootNode": "reboot", "TerminateNode": "replace", "GPUReset": "reset-gpu"}
ENDS = {"RebootNode": "NodeReady", "TerminateNode": "NodeTerminated", "GPUReset": "Complete"}
"""The conditions by which a remediator knows that a request is done."""
MINE = {"RebootNode": "node-000000", "TerminateNode": "node-000001", "GPUReset": "dgx-h100-000000"}
THEIRS = {
    "RebootNode": "node-000002",
    "TerminateNode": "node-000003",
    "GPUReset": "dgx-h100-000001",
}
BUSY = "dgx-h100-000002"


@pytest.fixture(scope="module")
def cluster(with_repairs: Installed) -> Installed:
    cluster = with_repairs
    cluster.ok("scale", "node", "--replicas", "4", "--wait")
    cluster.ok("scale", "dgx-h100", "--replicas", "3", "--wait")
    kinds = [definition(kind) for kind in KINDS]
    cluster.create(*kinds)
    for each in kinds:
        cluster.wait_for("Established", f"crd/{each['metadata']['name']}")
    return cluster


def trigger(kind: str, after: int) -> dict[str, Any]:
    """Return a trigger of a policy that does what is asked for with a kind."""
    asked = {"apiVersion": API, "kind": kind, "after": f"{after}s"}
    return {"action": ACTIONS[kind], "request": asked}


def answer(cluster: Installed, kind: str, name: str) -> dict[str, Any]:
    """Return the status of a request."""
    found: dict[str, Any] = cluster.found(plural(kind), name).get("status", {})
    return found


def accept(cluster: Installed, kind: str, name: str) -> None:
    """Take a request, as a janitor does that works on it."""
    status = json.dumps({"status": {"startTime": "2026-01-01T00:00:00Z"}})
    cluster.patch(plural(kind), name, "--subresource=status", "--type=merge", "-p", status)


def says(status: Mapping[str, Any], kind: str) -> str:
    """Return the status of the condition by which a remediator knows that a request is done; empty without one."""
    return condition({"status": status}, ENDS[kind]) if status.get("completionTime") else ""


def test_requests_are_done_that_nobody_accepts_in_time_and_no_others(cluster: Installed) -> None:
    for kind, name in MINE.items():
        fault = "xid-94" if kind == "GPUReset" else "not-ready"
        inject(cluster, f"on-{name}", fault, target={"nodes": [name]})
    before = uid(cluster, MINE["TerminateNode"])
    triggers = [trigger(kind, AFTER) for kind in KINDS]
    actions = dict.fromkeys(ACTIONS.values(), QUICK)

    with policy(cluster, "shop", triggers=triggers, actions=actions):
        for kind in KINDS:
            cluster.create(request(kind, "theirs", THEIRS[kind]))
            accept(cluster, kind, "theirs")
            cluster.create(request(kind, "mine", MINE[kind]))
        for kind, name in MINE.items():
            until(f"{kind} is done", lambda kind=kind: says(answer(cluster, kind, "mine"), kind))  # type: ignore[misc] # a kind
            found, [one] = answer(cluster, kind, "mine"), repairs(cluster, name)
            assert says(found, kind) == "True"
            assert found["startTime"] <= found["completionTime"]
            assert one["status"]["trigger"] == "request"
            assert one["status"]["cleared"] == [f"on-{name}"]
            asked = cluster.found(plural(kind), "mine")["metadata"]["creationTimestamp"]
            made = one["metadata"]["creationTimestamp"]
            assert parse_time(made) - parse_time(asked) >= AFTER

        # They were asked for before those that are done by now.
        for kind, name in THEIRS.items():
            assert repairs(cluster, name) == []
            assert answer(cluster, kind, "theirs") == {"startTime": "2026-01-01T00:00:00Z"}

    assert uid(cluster, MINE["TerminateNode"]) not in ("", before)
    for name in MINE.values():
        until(f"{name} is back", lambda name=name: is_healthy(cluster, name))  # type: ignore[misc] # a name


def test_a_gpu_that_a_pod_uses_is_not_reset_unless_it_is_waited_for(cluster: Installed) -> None:
    inject(cluster, "lasting", "xid-94", target={"nodes": [BUSY]})
    limits = {"limits": {"nvidia.com/gpu": 1}}
    container = {"name": "a", "image": "a", "resources": limits}
    until("pods may be made", lambda: cluster.objects("serviceaccounts", "-n", "default"))
    cluster.run_pod("load", {"nodeName": BUSY, "containers": [container]})

    with policy(cluster, "strict", triggers=[trigger("GPUReset", 0)]):
        cluster.create(request("GPUReset", "early", BUSY))
        until("it is answered", lambda: says(answer(cluster, "GPUReset", "early"), "GPUReset"))
        assert says(answer(cluster, "GPUReset", "early"), "GPUReset") == "False"
        [one] = repairs(cluster, BUSY)
        assert (one["status"]["phase"], one["status"]["inUse"]) == ("Failed", ["default/load"])
        assert one["status"]["left"] == ["lasting"]
    assert shows(cluster, BUSY) == {"lasting"}

    with policy(cluster, "patient", actions={"reset-gpu": {**QUICK, "idleWithin": "1h"}}):
        ask(cluster, "waiting", BUSY, "reset-gpu")
        until(
            "it waits", lambda: cluster.found("repairs", "waiting").get("status", {}).get("inUse")
        )
        cluster.delete("pod", "load")
        found = ended(cluster, "waiting")
    assert (found["phase"], found["cleared"]) == ("Succeeded", ["lasting"])
    assert phase(cluster, "lasting") == "Cleared"
    until("its GPU is well", lambda: is_healthy(cluster, BUSY))
