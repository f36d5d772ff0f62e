"""The node that takes the place of another: its name and labels, and nothing of its life."""

from typing import Any

import pytest

from kwokctl.faults.classes.class_schema import DeviceTaint
from kwokctl.faults.journal import JOURNAL
from kwokctl.faults.overlays.open_entries import OpenEntry
from kwokctl.faults.overlays.slice_overlay import SLICE_JOURNAL, slice_changes
from kwokctl.faults.repairs.replaced_node import (
    is_of_other_node,
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


def test_its_slices_show_no_faults_as_nothing_looks_at_them_again() -> None:
    devices = [{"name": f"gpu-{n}"} for n in range(3)]
    pool = {"name": "n-0", "generation": 1}
    whole: Any = {
        "metadata": {**SLICE["metadata"], "resourceVersion": "1"},
        "spec": {**SLICE["spec"], "pool": pool, "devices": devices},
    }
    taint = DeviceTaint(key="xid", value="79", effect="NoExecute")
    common: dict[str, Any] = {"fault": "f", "uid": "u", "class_name": "x", "since": 1.0}
    entries = [
        OpenEntry(**common, gpu=0, device_taints=(taint,)),
        OpenEntry(**common, gpu=1, device="missing"),
    ]
    (change,) = slice_changes([whole], entries).changes
    shown = {
        "metadata": {**whole["metadata"], **change.document["metadata"]},
        "spec": {**whole["spec"], **change.document["spec"]},
    }
    assert SLICE_JOURNAL in shown["metadata"]["annotations"]

    (made,) = replacement_of(NODE, [shown], "r", 0.0).slices

    assert made["spec"]["devices"] == devices
    assert SLICE_JOURNAL not in {**made["metadata"]["annotations"], **made["metadata"]["labels"]}


@pytest.mark.parametrize(
    ("owners", "expected"),
    [
        ([], False),
        ([{"kind": "Node", "uid": "new"}], False),
        ([{"kind": "Node", "uid": "old"}], True),
        ([{"kind": "Deployment", "uid": "d"}], False),
    ],
)
def test_slices_of_an_earlier_node_of_the_name_are_those_that_it_owns(
    owners: list[dict[str, str]], *, expected: bool
) -> None:
    assert is_of_other_node({"metadata": {"ownerReferences": owners}}, "new") is expected
