import copy
from typing import Any

import pytest

from kwokctl.kube.patching.json_patch import apply
from kwokctl.kube.patching.unknown_patch import UnknownPatchError

DOCUMENT: dict[str, Any] = {"a": {"b": 1, "x/y": 2, "m~n": 3}, "list": [1, 2, 3], "text": "<"}


def after(*steps: Any) -> Any:
    before = copy.deepcopy((DOCUMENT, steps))
    result = apply(DOCUMENT, list(steps))
    assert (DOCUMENT, steps) == before
    return result


@pytest.mark.parametrize(
    ("step", "place", "value"),
    [
        ({"op": "add", "path": "/a/new", "value": [1]}, "a", {**DOCUMENT["a"], "new": [1]}),
        ({"op": "add", "path": "/a/b", "value": None}, "a", {**DOCUMENT["a"], "b": None}),
        ({"op": "add", "path": "/list/1", "value": 9}, "list", [1, 9, 2, 3]),
        ({"op": "add", "path": "/list/3", "value": 9}, "list", [1, 2, 3, 9]),
        ({"op": "add", "path": "/list/-", "value": 9}, "list", [1, 2, 3, 9]),
        ({"op": "replace", "path": "/list/0", "value": 9}, "list", [9, 2, 3]),
        ({"op": "replace", "path": "/a/x~1y", "value": 9}, "a", {**DOCUMENT["a"], "x/y": 9}),
        ({"op": "replace", "path": "/a/m~0n", "value": 9}, "a", {**DOCUMENT["a"], "m~n": 9}),
        ({"op": "remove", "path": "/a/b"}, "a", {"x/y": 2, "m~n": 3}),
        ({"op": "remove", "path": "/list/2"}, "list", [1, 2]),
        ({"op": "move", "from": "/list/0", "path": "/list/2"}, "list", [2, 3, 1]),
        ({"op": "copy", "from": "/list", "path": "/a"}, "a", [1, 2, 3]),
        ({"op": "test", "path": "/list", "value": [1, 2, 3]}, "list", [1, 2, 3]),
        ({"op": "test", "path": "/a", "value": DOCUMENT["a"]}, "a", DOCUMENT["a"]),
    ],
)
def test_every_operation_follows_the_standard(step: Any, place: str, value: Any) -> None:
    assert after(step) == {**DOCUMENT, place: value}


def test_steps_build_on_each_other() -> None:
    result = after(
        {"op": "add", "path": "/new", "value": {}},
        {"op": "move", "from": "/a/b", "path": "/new/b"},
        {"op": "test", "path": "/new/b", "value": 1},
    )

    assert result == {**DOCUMENT, "a": {"x/y": 2, "m~n": 3}, "new": {"b": 1}}
    assert result["list"] is DOCUMENT["list"]


@pytest.mark.parametrize(
    "step",
    [
        "text",
        {"path": "/a"},
        {"op": "Add", "path": "/a", "value": 1},
        {"op": ["add"], "path": "/a", "value": 1},
        {"op": "add", "path": "/a"},
        {"op": "add", "path": "", "value": 1},
        {"op": "add", "path": "a", "value": 1},
        {"op": "add", "path": "/a~2", "value": 1},
        {"op": "add", "value": 1},
        {"op": "add", "path": "/absent/x", "value": 1},
        {"op": "add", "path": "/text/x", "value": 1},
        {"op": "add", "path": "/list/4", "value": 1},
        {"op": "add", "path": "/list/01", "value": 1},
        {"op": "add", "path": "/list/-1", "value": 1},
        {"op": "replace", "path": "/absent", "value": 1},
        {"op": "replace", "path": "/list/-", "value": 1},
        {"op": "remove", "path": "/absent"},
        {"op": "remove", "path": "/list/3"},
        {"op": "move", "from": "/a", "path": "/a/b"},
        {"op": "move", "path": "/a"},
        {"op": "copy", "from": "/text/x", "path": "/a"},
        {"op": "test", "path": "/absent", "value": None},
        {"op": "test", "path": "/list/0", "value": 2},
        {"op": "test", "path": "/list/0", "value": 1.0},
        {"op": "test", "path": "/list/0", "value": True},
    ],
)
def test_a_step_that_fails_or_is_not_certain_raises(step: Any) -> None:
    with pytest.raises(UnknownPatchError):
        after(step)


@pytest.mark.parametrize("value", ["<", "é", '"', "\\", "\n", "\x7f", 1.5, None])
def test_values_that_encoders_may_write_differently_are_not_certainly_the_same(value: Any) -> None:
    with pytest.raises(UnknownPatchError, match="not surely"):
        apply({"a": value}, [{"op": "test", "path": "/a", "value": value}])
