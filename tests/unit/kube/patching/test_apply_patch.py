""""""

import copy
from typing import Any

import pytest

from kwokctl.errors import ExpressionError
from kwokctl.kube.client import PatchType
from kwokctl.kube.patching.apply_patch import UnknownPatchError, apply_patch

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "uid": "u", "resourceVersion": "7", "labels": {"a": "b"}},
    "spec": {"nodeName": "n"},
    "status": {"phase": "Pending", "message": "m", "qosClass": "BestEffort"},
}

both_merges = pytest.mark.parametrize("patch_type", [PatchType.MERGE, PatchType.STRATEGIC])


def patched(patch: Any, patch_type: PatchType, kind: str = "Pod") -> Any:
    before = copy.deepcopy((POD, patch))
    result = apply_patch(POD, patch, patch_type, kind)
    assert (POD, patch) == before
    return result


@both_merges
def test_a_merge_adds_changes_and_removes(patch_type: PatchType) -> None:
    status = {"phase": "Running", "message": None, "absent": None, "podIP": "10.0.0.1"}

    result = patched({"status": status}, patch_type)

    assert result["status"] == {
        "phase": "Running", "qosClass": "BestEffort", "podIP": "10.0.0.1",
    }  # fmt: skip


@both_merges
def test_what_did_not_change_is_shared(patch_type: PatchType) -> None:
    result = patched({"status": {"phase": "Running"}}, patch_type)

    assert result["spec"] is POD["spec"]
    assert result["metadata"] is POD["metadata"]


@both_merges
def test_nulls_of_a_new_map_are_left_out(patch_type: PatchType) -> None:
    result = patched({"metadata": {"annotations": {"x": "y", "z": None}}}, patch_type)

    assert result["metadata"]["annotations"] == {"x": "y"}


STATUS_WITH_NULLS = {
    "conditions": [{"type": "A", "status": "True", "lastProbeTime": None}],
    "containerStatuses": [
        {
            "name": "c",
            "restartCount": None,
            "state": {"running": {"startedAt": None}},
            "lastState": {"terminated": None},
        }
    ],
}
STATUS_WITHOUT = {
    "conditions": [{"type": "A", "status": "True"}],
    "containerStatuses": [{"name": "c", "state": {"running": {}}, "lastState": {}}],
}


@both_merges
def test_nulls_of_structs_within_lists_are_left_out_at_any_depth(patch_type: PatchType) -> None:
    status = patched({"status": STATUS_WITH_NULLS}, patch_type)["status"]

    assert status == {"phase": "Pending", "message": "m", "qosClass": "BestEffort"} | STATUS_WITHOUT


@both_merges
@pytest.mark.parametrize("stored", [STATUS_WITH_NULLS, STATUS_WITHOUT])
@pytest.mark.parametrize("wanted", [STATUS_WITH_NULLS, STATUS_WITHOUT])
def test_lists_that_differ_in_nulls_only_are_the_same(
    patch_type: PatchType, stored: Any, wanted: Any
) -> None:
    pod = {"status": stored}

    assert apply_patch(pod, {"status": wanted}, patch_type, "Pod") is pod


@both_merges
@pytest.mark.parametrize(
    "status",
    [
        {"containerStatuses": [{"name": "c", "allocatedResources": {"cpu": None}}]},
        {"containerStatuses": [{"name": "c", "resources": {"limits": {"cpu": None}}}]},
        {"containerStatuses": [None]},
        {"containerStatuses": [{"name": "c", "user": {"linux": {"supplementalGroups": [None]}}}]},
    ],
)
def test_nulls_of_maps_and_of_lists_themselves_are_not_certain_within_a_list(
    patch_type: PatchType, status: Any
) -> None:
    with pytest.raises(UnknownPatchError, match="null"):
        patched({"status": status}, patch_type)


def test_a_null_within_a_list_of_another_kind_is_not_certain() -> None:
    patch = {"status": {"items": [{"name": None}]}}

    with pytest.raises(UnknownPatchError, match="null within the list 'items'"):
        apply_patch({"status": {}}, patch, PatchType.MERGE, "Widget")


@pytest.mark.parametrize("patch_type", PatchType)
def test_a_patch_of_the_wrong_form_is_not_certain(patch_type: PatchType) -> None:
    with pytest.raises(UnknownPatchError):
        patched("text", patch_type)


@pytest.mark.parametrize(
    "patch",
    [
        {"metadata": {"uid": "other"}},
        {"metadata": {"resourceVersion": "8"}},
        {"metadata": {"deletionTimestamp": "2024-01-01T00:00:00Z"}},
        {"metadata": None},
        {"kind": "Node"},
        {"apiVersion": None},
    ],
)
@both_merges
def test_what_identifies_an_object_is_not_to_be_patched(patch: Any, patch_type: PatchType) -> None:
    with pytest.raises(UnknownPatchError, match="differs from that of the object"):
        patched(patch, patch_type)


@both_merges
def test_the_uid_of_the_object_may_be_in_a_patch(patch_type: PatchType) -> None:
    assert patched({"metadata": {"uid": "u", "resourceVersion": "7"}}, patch_type) == POD


def test_a_merge_patch_replaces_lists_and_what_is_of_another_type() -> None:
    pod = {"status": {"conditions": [{"type": "A"}], "phase": "Running"}}
    patch = {"status": {"conditions": [{"type": "B"}], "phase": {"a": 1, "b": None}}}

    result = apply_patch(pod, patch, PatchType.MERGE, "Any")

    assert result == {"status": {"conditions": [{"type": "B"}], "phase": {"a": 1}}}


def test_a_patch_that_leaves_no_object_is_not_certain() -> None:
    with pytest.raises(UnknownPatchError, match="not an object"):
        apply_patch([1, 2], [{"op": "remove", "path": "/0"}], PatchType.JSON, "Pod")


def test_an_apply_is_the_servers() -> None:
    with pytest.raises(UnknownPatchError, match="the server's"):
        patched({}, PatchType.APPLY)


def test_strategic_merges_that_change_other_kinds_are_not_known() -> None:
    with pytest.raises(UnknownPatchError, match="'Lease'"):
        patched({"spec": {"nodeName": "m"}}, PatchType.STRATEGIC, "Lease")


def test_the_error_has_a_hint_and_is_a_patch_error() -> None:
    with pytest.raises(ExpressionError) as raised:
        patched({}, PatchType.APPLY)

    assert raised.value.hint == "send the patch to the API server"


OBJECT = {
    "metadata": {"labels": {"a": "b"}, "finalizers": ["f", "h"]},
    "spec": {"priority": 1},
    "status": {
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": "True", "reason": "r"}, {"type": "Other"}],
        "containerStatuses": [{"name": "c", "ready": True}],
        "podIPs": [{"ip": "10.0.0.1"}],
    },
}


def is_unchanged(patch: Any, patch_type: PatchType) -> bool:
    """Return whether a patch leaves the object itself."""
    try:
        return apply_patch(OBJECT, patch, patch_type, "Pod") is OBJECT
    except UnknownPatchError:
        return False


@pytest.mark.parametrize(
    ("patch", "noop"),
    [
        ({}, True),
        ({"metadata": {"labels": {"a": "b"}}}, True),
        ({"metadata": {"labels": {"a": "c"}}}, False),
        ({"metadata": {"labels": {"new": "b"}}}, False),
        ({"metadata": {"labels": {"a": None}}}, False),
        ({"metadata": {"labels": {"absent": None}}}, True),
        ({"metadata": {"finalizers": ["f", "h"]}}, True),
        ({"metadata": {"finalizers": ["g"]}}, False),
        ({"status": "text"}, False),
        ({"spec": {"priority": True}}, False),
        ({"spec": {"priority": 1.0}}, False),
        ({"spec": {}}, True),
        ({"new": {}}, False),
        ({"metadata": {"labels": {"a": {"b": "c"}}}}, False),
    ],
)
def test_a_merge_patch_is_compared_field_by_field(patch: Any, noop: bool) -> None:
    assert is_unchanged(patch, PatchType.MERGE) is noop


@pytest.mark.parametrize(
    ("status", "noop"),
    [
        ({"phase": "Running"}, True),
        ({"conditions": [{"type": "Ready", "status": "True"}]}, True),
        ({"conditions": [{"type": "Other"}, {"type": "Ready"}]}, False),
        ({"conditions": [{"type": "Ready"}, {"type": "Other"}]}, True),
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
    assert is_unchanged({"status": status}, PatchType.STRATEGIC) is noop


@pytest.mark.parametrize(
    ("finalizers", "noop"), [(["f"], True), (["f", "h"], True), (["h", "f"], False), (["g"], False)]
)
def test_a_strategic_patch_compares_sets_in_their_order(finalizers: Any, noop: bool) -> None:
    assert is_unchanged({"metadata": {"finalizers": finalizers}}, PatchType.STRATEGIC) is noop


def test_a_strategic_patch_of_another_kind_may_change_nothing() -> None:
    job = {"spec": {"completions": 1, "taints": [{"key": "k"}]}}

    assert apply_patch(job, copy.deepcopy(job), PatchType.STRATEGIC, "Job") is job


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
    assert is_unchanged(steps, PatchType.JSON) is noop
