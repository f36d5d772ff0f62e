"""Heartbeats of the conditions of dialects: of these only, and of nothing else in them."""

from typing import Any

from kwokctl.controller.dialect_heartbeats import beaten, types_of
from tests.support.faults import condition, node

LATER = "2026-01-01T00:05:00Z"


def beats(found: Any) -> dict[str, str]:
    return {each["type"]: each["lastHeartbeatTime"] for each in found["status"]["conditions"]}


def test_types_are_those_of_the_agents_and_not_of_the_kubelet() -> None:
    found = types_of(("aks", "device-plugin", "kubelet"))

    assert "GPUMissing" in found
    assert "Ready" not in found


def test_only_the_conditions_of_dialects_get_a_heartbeat() -> None:
    before = node(condition("GPUMissing", "True", "Shown", "by a fault"))

    after: Any = beaten(before, types_of(("aks",)), LATER)

    assert beats(after) == {**beats(before), "GPUMissing": LATER}
    old, new = (each["status"]["conditions"][1] for each in (before, after))
    assert new == {**old, "lastHeartbeatTime": LATER}


def test_a_node_without_such_conditions_is_left_alone() -> None:
    assert beaten(node(), types_of(("aks",)), LATER) is None
    assert beaten({"metadata": {"name": "new"}}, types_of(("aks",)), LATER) is None
