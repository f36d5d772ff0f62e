from typing import Any

import pytest

from kwokctl.controller.engine.patches import finalizers_after, is_noop, rooted, with_uid
from kwokctl.errors import ExpressionError
from kwokctl.kube.client import PatchType

POD = {
    "metadata": {"labels": {"a": "b"}, "finalizers": ["f"]},
    "status": {
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": "True", "reason": "r"}, {"type": "Other"}],
        "containerStatuses": [{"name": "c", "ready": True}],
        "podIPs": [{"ip": "10.0.0.1"}],
    },
}


@pytest.mark.parametrize(
    ("patch", "noop"),
    [
        ({}, True),
        ({"metadata": {"labels": {"a": "b"}}}, True),
        ({"metadata": {"labels": {"a": "c"}}}, False),
        ({"metadata": {"labels": {"new": "b"}}}, False),
        ({"metadata": {"labels": {"a": None}}}, False),
        ({"metadata": {"labels": {"absent": None}}}, True),
        ({"metadata": {"finalizers": ["f"]}}, True),
        ({"metadata": {"finalizers": ["g"]}}, False),
        ({"status": "text"}, False),
        ({"metadata": {"labels": {"a": {"b": "c"}}}}, False),
    ],
)
def test_a_merge_patch_is_compared_field_by_field(patch: Any, noop: bool) -> None:
    assert is_noop(POD, patch, PatchType.MERGE, "Pod") is noop


@pytest.mark.parametrize(
    ("status", "noop"),
    [
        ({"phase": "Running"}, True),
        ({"conditions": [{"type": "Ready", "status": "True"}]}, True),
        ({"conditions": [{"type": "Ready", "status": "False"}]}, False),
        ({"conditions": [{"type": "New", "status": "True"}]}, False),
        ({"conditions": [{"status": "True"}]}, False),
        ({"conditions": "text"}, False),
        ({"containerStatuses": [{"name": "c", "ready": True}]}, True),
        ({"containerStatuses": [{"name": "c"}]}, False),
        ({"podIPs": [{"ip": "10.0.0.1"}]}, True),
        ({"podIPs": [{"ip": "10.0.0.2"}]}, False),
        ({"podIPs": None}, False),
        ({"hostIPs": None}, True),
        ({"conditions": [{"$patch": "delete", "type": "Ready"}]}, False),
        ({"phase": {"not": "a text"}}, False),
    ],
)
def test_a_strategic_patch_compares_lists_by_their_keys(status: Any, noop: bool) -> None:
    assert is_noop(POD, {"status": status}, PatchType.STRATEGIC, "Pod") is noop


def test_a_strategic_patch_compares_sets_of_plain_values() -> None:
    assert is_noop(POD, {"metadata": {"finalizers": ["f"]}}, PatchType.STRATEGIC, "Pod")
    assert not is_noop(POD, {"metadata": {"finalizers": ["g"]}}, PatchType.STRATEGIC, "Pod")
    assert is_noop({"spec": {"podCIDRs": ["b", "a"]}}, {"spec": {"podCIDRs": ["a"]}},
                   PatchType.STRATEGIC, "Node")  # fmt: skip


@pytest.mark.parametrize(
    ("steps", "noop"),
    [
        ([], True),
        ([{"op": "add", "path": "/metadata/labels/a", "value": "b"}], True),
        ([{"op": "replace", "path": "/status/phase", "value": "Running"}], True),
        ([{"op": "replace", "path": "/status/phase", "value": "Failed"}], False),
        ([{"op": "add", "path": "/metadata/labels/x~1y", "value": "b"}], False),
        ([{"op": "remove", "path": "/metadata/labels/a"}], False),
        ([{"op": "add", "path": "/metadata/finalizers/0", "value": "f"}], False),
        ([{"op": "add", "path": "/metadata/finalizers/-", "value": "f"}], False),
        ([{"op": "test", "path": "/metadata/finalizers/0", "value": "f"}], True),
        ("text", False),
    ],
)
def test_a_json_patch_changes_nothing_if_every_value_is_there(steps: Any, noop: bool) -> None:
    assert is_noop(POD, steps, PatchType.JSON, "Pod") is noop


def test_an_apply_is_always_sent() -> None:
    assert not is_noop(POD, {}, PatchType.APPLY, "Pod")


def test_a_document_is_put_under_its_root() -> None:
    assert rooted({"a": 1}, "status", PatchType.MERGE) == {"status": {"a": 1}}
    assert rooted({"a": 1}, "", PatchType.MERGE) == {"a": 1}


def test_the_root_of_a_json_patch_prefixes_path_and_from() -> None:
    steps = [{"op": "move", "path": "/a", "from": "/b"}, {"op": "remove", "path": "/c"}]

    assert rooted(steps, "status", PatchType.JSON) == [
        {"op": "move", "path": "/status/a", "from": "/status/b"},
        {"op": "remove", "path": "/status/c"},
    ]


def test_a_json_patch_that_is_no_list_of_steps_is_an_error() -> None:
    with pytest.raises(ExpressionError, match="list of operations"):
        rooted({"a": 1}, "status", PatchType.JSON)


def test_a_patch_is_bound_to_the_object_it_was_made_for() -> None:
    assert with_uid({"status": {}}, "u", PatchType.MERGE) == {
        "status": {},
        "metadata": {"uid": "u"},
    }
    assert with_uid([{"op": "remove", "path": "/a"}], "u", PatchType.JSON)[0] == {
        "op": "test",
        "path": "/metadata/uid",
        "value": "u",
    }


def test_a_patch_that_is_no_mapping_is_an_error() -> None:
    with pytest.raises(ExpressionError, match="not a mapping"):
        with_uid("text", "u", PatchType.MERGE)


def test_finalizers_are_emptied_removed_and_added_once() -> None:
    assert finalizers_after(["a", "b"], add=["c", "b", "c"], remove=["a"], empty=False) == [
        "b",
        "c",
    ]
    assert finalizers_after(["a", "b"], add=["c"], remove=[], empty=True) == ["c"]
    assert finalizers_after([], add=[], remove=["a"], empty=False) == []
