"""What is certain about two values before what differs per object is known."""

import pytest

from kwokctl.controller.stages.symbolic_matching import surely_differ
from kwokctl.expr.gotemplate.symbols import Symbol
from kwokctl.json_value import Json

ANY = Symbol("any")
"""A value that differs per object."""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a", "b"),
        (1, 1.0),
        (1, True),
        ({"a": ANY}, {"b": ANY}),
        ({"a": ANY}, {"a": ANY, "b": ANY}),
        ({"a": ANY, "b": 1}, {"a": "x", "b": 2}),
        ({"a": ANY}, None),
        (None, {"a": ANY}),
        ([ANY], ["x", "y"]),
        ([ANY, 1], ["x", 2]),
        ([ANY], None),
        (None, [ANY]),
        ({"a": [ANY, {"b": 1}]}, {"a": ["x", {"b": 2}]}),
    ],
)
def test_values_differ_for_all_objects_whatever_else_is_in_them(before: Json, after: Json) -> None:
    assert surely_differ(before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a", "a"),
        (ANY, "a"),
        ("a", ANY),
        (ANY, ANY),
        ({"a": ANY, "b": 1}, {"a": "x", "b": 1}),
        ([ANY, 1], ["x", 1]),
        ({"a": [ANY, {"b": 1}]}, {"a": ["x", {"b": 1}]}),
    ],
)
def test_values_that_are_the_same_for_some_objects_do_not_surely_differ(
    before: Json, after: Json
) -> None:
    assert not surely_differ(before, after)
