""""""

from typing import Any

import pytest

from kwokctl.controller.engine.stage_patches import finalizers_after, result_of, with_uid
from kwokctl.errors import ExpressionError
from kwokctl.kube.client import PatchType


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


@pytest.mark.parametrize(
    ("patch", "patch_type"),
    [
        ({"status": {"a": 1}}, PatchType.APPLY),
        ({"status": {"unknown": [1]}}, PatchType.STRATEGIC),
        ("text", PatchType.MERGE),
    ],
)
def test_the_result_is_left_to_the_data_plane_where_it_is_not_certain(
    patch: Any, patch_type: PatchType
) -> None:
    assert result_of({"status": {"a": 1}}, patch, patch_type, "Pod") is None


@pytest.mark.parametrize("patch_type", [PatchType.MERGE, PatchType.STRATEGIC])
def test_the_result_of_a_patch_that_changes_nothing_is_the_object_itself(
    patch_type: PatchType,
) -> None:
    pod = {"status": {"a": 1, "conditions": [{"type": "Ready"}]}}

    same = {"status": {"a": 1, "absent": None, "conditions": [{"type": "Ready"}]}}
    assert result_of(pod, same, patch_type, "Pod") is pod
    more = {"status": {"conditions": [{"type": "Ready", "observedGeneration": 1}]}}
    assert result_of(pod, more, patch_type, "Pod") == {"status": {"a": 1, **more["status"]}}
