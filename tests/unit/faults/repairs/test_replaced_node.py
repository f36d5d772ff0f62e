"""The node that takes the place of another: its name and labels, and nothing of its life."""

from typing import Any

from kwokctl.faults.journal import JOURNAL
from kwokctl.faults.repairs.replaced_node import (
    owned_by,
    read_replacement,
    replacement_of,
    replacement_text,
)

NODE: dict[str, Any] = {
    "metadata": {
        "name": "n-0", "uid": "old", "resourceVersion": "7", "labels": {"pool": "a"},
        "annotations": {"mine": "1", JOURNAL: "{}", "kwokctl.dev/open-faults": "[]"},
        "managedFields": [{"manager": "x"}],
    },
    "spec": {
        "unschedulable": True, "podCIDR": "10.0.0.0/24", "providerID": "kwok://n-0",
        "taints": [
            {"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"},
            {"key": "gpu", "value": "yes", "effect": "NoSchedule", "timeAdded": "2026-01-01T00:00:00Z"},
        ],
    },
    "status": {
        "capacity": {"cpu": "8"}, "conditions": [{"type": "Ready", "status": "False"}],
        "nodeInfo": {"bootID": "b", "machineID": "m", "systemUUID": "s", "osImage": "Linux"},
    },
}  # fmt: skip
SLICE: dict[str, Any] = {
    "metadata": {
        "name": "n-0-gpu",
        "uid": "s",
        "ownerReferences": [{"kind": "Node", "name": "n-0", "uid": "old"}],
    },
    "spec": {"nodeName": "n-0", "driver": "gpu.nvidia.com"},
}


def test_a_new_node_has_what_was_given_to_the_old_one() -> None:
    made = replacement_of(NODE, [], "r", 0.0).node
    assert made["metadata"] == {
        "name": "n-0",
        "labels": {"pool": "a"},
        "annotations": {"mine": "1"},
    }
    assert made["spec"] == {
        "providerID": "kwok://n-0",
        "taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}],
    }
    assert made["status"]["capacity"] == {"cpu": "8"}
    assert "conditions" not in made["status"]


def test_a_new_node_is_another_machine_and_the_same_for_the_same_repair() -> None:
    info = replacement_of(NODE, [], "r", 0.0).node["status"]["nodeInfo"]
    assert info["osImage"] == "Linux"
    assert {info["bootID"], info["machineID"], info["systemUUID"]}.isdisjoint({"b", "m", "s"})
    assert replacement_of(NODE, [], "r", 9.0).node["status"]["nodeInfo"] == info
    assert replacement_of(NODE, [], "q", 0.0).node["status"]["nodeInfo"] != info


def test_its_slices_belong_to_the_new_node() -> None:
    made = read_replacement(replacement_text(replacement_of(NODE, [SLICE], "r", 0.0)))
    owned = owned_by(made.slices[0], "new")
    assert owned["spec"] == SLICE["spec"]
    assert owned["metadata"] == {
        "name": "n-0-gpu",
        "ownerReferences": [{"kind": "Node", "name": "n-0", "uid": "new"}],
    }
