"""Strategic merge patches with directives, as other clients compute them."""

from typing import Any

import pytest

from kwokctl.dataplane.objects.merged_lists import UNKNOWN, MergedLists, lists_of_kind
from kwokctl.kube.patching.directed_merge import directed_merge
from kwokctl.kube.patching.unknown_patch import UnknownPatchError

POD = lists_of_kind("v1", "Pod")


def _spec(*names: str, **more: Any) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": name, **more} for name in names]}}


@pytest.mark.parametrize(
    ("current", "patch", "wanted"),
    [
        ({"a": 1, "b": {"c": 1}}, {"a": None, "b": {"d": 2}}, {"b": {"c": 1, "d": 2}}),
        (_spec("a", "b"), {"spec": {"containers": [{"name": "b", "image": "i"}]}},
         {"spec": {"containers": [{"name": "a"}, {"name": "b", "image": "i"}]}}),
        (_spec("a", "b"), {"spec": {"containers": [{"$patch": "replace"}, {"name": "c"}]}},
         _spec("c")),
        (_spec("a", "b"), {"spec": {"containers": [{"$patch": "delete", "name": "a"}]}},
         _spec("b")),
        (_spec("a"), {"spec": {"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}],
                               "containers": [{"name": "b"}]}}, _spec("b", "a")),
        (_spec("a", "b"), {"spec": {"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}]}},
         _spec("b", "a")),
        ({"metadata": {"finalizers": ["a", "b"]}},
         {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a"], "finalizers": ["c"]}},
         {"metadata": {"finalizers": ["c", "b"]}}),
        ({"spec": {"volumes": [{"name": "v", "emptyDir": {}}]}},
         {"spec": {"volumes": [{"name": "v", "$retainKeys": ["name", "secret"], "secret": {}}]}},
         {"spec": {"volumes": [{"name": "v", "secret": {}}]}}),
        (_spec("a", args=["x"]), _spec("a", args=["y"]), _spec("a", args=["y"])),
        ({"spec": {"nodeSelector": {"a": "1"}}},
         {"spec": {"nodeSelector": {"$patch": "replace", "b": "2"}}},
         {"spec": {"nodeSelector": {"b": "2"}}}),
        ({}, {"spec": {"containers": [{"name": "a", "image": None}]}}, _spec("a")),
    ],
)  # fmt: skip
def test_a_patch_is_merged_as_its_directives_say(current: Any, patch: Any, wanted: Any) -> None:
    assert directed_merge(current, patch, POD) == wanted


def test_the_lists_of_custom_resources_are_replaced() -> None:
    patched = directed_merge({"spec": {"l": [1, 2]}}, {"spec": {"l": [3]}}, UNKNOWN)

    assert patched == {"spec": {"l": [3]}}


@pytest.mark.parametrize(
    "patch",
    [{"$patch": "turn"}, {"$what": 1}, {"spec": {"containers": [{"image": "nameless"}]}}],
)
def test_a_patch_without_a_certain_meaning_is_refused(patch: Any) -> None:
    with pytest.raises(UnknownPatchError):
        directed_merge(_spec("a"), patch, POD)


def test_the_table_says_by_what_lists_are_merged() -> None:
    containers = POD.field("spec").field("containers")
    ephemeral = POD.field("spec").field("ephemeralContainers").item

    assert containers.merge_key == "name"
    assert containers.item.field("ports").merge_key == "containerPort"
    assert containers.item.field("args").merge_key is None
    assert ephemeral.field("env").merge_key == "name"
    assert POD.field("metadata").field("finalizers").merge_key == ""
    assert POD.field("metadata").field("labels").field("any") == MergedLists()
    assert lists_of_kind("example.com/v1", "Widget").field("spec") == UNKNOWN
