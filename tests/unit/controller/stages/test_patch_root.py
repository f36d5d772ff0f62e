import pytest

from kwokctl.controller.stages.patch_root import rooted
from kwokctl.errors import ExpressionError
from kwokctl.kube.client import PatchType


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
