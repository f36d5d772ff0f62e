""""""

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from kwokctl.dataplane.objects.api_types import SCALARS, ApiField, Many, api_type, type_of_kind
from kwokctl.kube.client import PatchType
from kwokctl.kube.patching.apply_patch import UnknownPatchError, apply_patch
from kwokctl.kube.patching.strategic_merge import MAPS

NODE: dict[str, Any] = {
    "metadata": {"finalizers": ["a", "b", "c"]},
    "spec": {"taints": [{"key": "t"}]},
    "status": {"conditions": [{"type": kind, "status": "True"} for kind in "ABC"], "images": []},
}


def merged(current: Any, patch: Any, kind: str = "Node") -> Any:
    before = copy.deepcopy((current, patch))
    result = apply_patch(current, patch, PatchType.STRATEGIC, kind)
    assert (current, patch) == before
    return result


def conditions(types: str) -> Any:
    return {"status": {"conditions": [{"type": kind, "status": "True"} for kind in types]}}


@pytest.mark.parametrize(
    ("patch", "order"),
    [
        ("", "ABC"),
        ("B", "ABC"),
        ("CA", "BCA"),
        ("CAB", "CAB"),
        ("BA", "BAC"),
        ("N", "NABC"),
        ("BN", "ABNC"),
        ("NC", "NABC"),
        ("NABC", "NABC"),
        ("CN", "ABCN"),
    ],
)
def test_merged_items_follow_the_patchs_order_and_others_keep_their_place_before_them(
    patch: str, order: str
) -> None:
    finalizers = {"metadata": {"finalizers": list(patch.lower())}}

    assert (
        merged(NODE, conditions(patch))["status"]["conditions"]
        == (conditions(order)["status"]["conditions"])
    )
    assert merged(NODE, finalizers)["metadata"]["finalizers"] == list(order.lower())


def test_an_item_is_merged_field_by_field() -> None:
    patch = {"status": {"conditions": [{"type": "B", "status": None, "reason": "r"}]}}

    result = merged(NODE, patch)["status"]["conditions"]

    assert result[1] == {"type": "B", "reason": "r"}
    assert result[0] is NODE["status"]["conditions"][0]


def test_lists_without_a_merge_key_are_replaced() -> None:
    assert merged(NODE, {"spec": {"taints": []}})["spec"] == {"taints": []}


def test_a_list_that_is_not_there_is_taken_as_it_is() -> None:
    addresses = [{"type": "Hostname", "address": "n"}]

    assert merged(NODE, {"status": {"addresses": addresses}})["status"]["addresses"] == addresses
    assert merged({"status": None}, {"status": {"addresses": addresses}})["status"] == {
        "addresses": addresses
    }


def test_lists_within_items_are_merged_by_their_own_keys() -> None:
    pod = {"spec": {"containers": [{"name": "c", "env": [{"name": "A"}], "args": ["x"]}]}}
    patch = {"spec": {"containers": [{"name": "c", "env": [{"name": "B"}], "args": ["y"]}]}}

    result = merged(pod, patch, "Pod")["spec"]["containers"]

    assert result == [{"name": "c", "env": [{"name": "B"}, {"name": "A"}], "args": ["y"]}]


@pytest.mark.parametrize(
    "patch",
    [
        {"status": {"$patch": "replace"}},
        {"status": {"$retainKeys": ["phase"]}},
        {"status": {"$setElementOrder/conditions": [{"type": "A"}]}},
        {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a"]}},
        {"status": {"conditions": [{"$patch": "delete", "type": "A"}]}},
        {"status": {"conditions": [{"$patch": "delete", "type": "New"}]}},
        {"status": {"config": {"assigned": {"$patch": "replace"}}}},
        {"spec": {"taints": [{"$patch": "replace"}]}},
    ],
)
def test_directives_are_not_known(patch: Any) -> None:
    with pytest.raises(UnknownPatchError, match="directive"):
        merged(NODE, patch)


@pytest.mark.parametrize(
    "patch",
    [
        {"status": {"conditions": [{"status": "True"}]}},
        {"status": {"conditions": ["text"]}},
        {"status": {"conditions": [{"type": ["A"]}]}},
        {"status": {"conditions": [{"type": "A"}, {"type": "A"}]}},
        {"status": {"conditions": {"A": 1}}},
        {"status": {"conditions": "text"}},
        {"status": []},
        {"status": {"newList": []}},
        {"metadata": {"labels": []}},
        {"metadata": {"finalizers": ["a", "a"]}},
        {"metadata": {"finalizers": [1]}},
        {"spec": {"taints": [None]}},
    ],
)
def test_what_does_not_fit_is_not_certain(patch: Any) -> None:
    with pytest.raises(UnknownPatchError):
        merged(NODE, patch)


def test_a_null_in_a_new_item_is_no_value() -> None:
    patch = {"status": {"conditions": [{"type": "N", "status": "True", "lastHeartbeatTime": None}]}}

    assert merged(NODE, patch)["status"]["conditions"][0] == {"type": "N", "status": "True"}


def test_a_null_takes_a_field_out_of_an_item() -> None:
    patch = {"status": {"conditions": [{"type": "B", "status": None, "reason": None}]}}

    assert merged(NODE, patch)["status"]["conditions"][1] == {"type": "B"}


def test_items_with_the_same_key_are_left_to_the_api_server_which_moves_them() -> None:
    with pytest.raises(UnknownPatchError, match="the same 'type'"):
        merged(conditions("ABA"), {"status": {"conditions": []}})


def all_fields(full_name: str, seen: set[str]) -> Iterator[ApiField]:
    """Yield the fields of a type, and of all types within it."""
    if full_name in SCALARS or full_name in seen:
        return
    seen.add(full_name)
    for field in api_type(full_name).fields:
        yield field
        yield from all_fields(field.of, seen)


def test_the_maps_of_nodes_and_pods_are_those_of_the_api() -> None:
    kinds = [type_of_kind("v1", kind) for kind in ("Node", "Pod")]
    fields = [each for kind in kinds if kind for each in all_fields(f"core/v1.{kind.name}", set())]

    assert {field.name for field in fields if field.many is Many.MAP} == MAPS
