from typing import Any

import pytest

from kwokctl.controller.stages.selectors import Requirement, Selector
from kwokctl.expr import jq
from tests.unit.controller.stages.test_matcher import PythonCondition


@pytest.mark.parametrize(
    ("key", "operator", "values", "value", "holds"),
    [
        (".a", "In", {"x"}, {"a": "x"}, True),
        (".a", "In", {"x"}, {"a": "y"}, False),
        (".a", "In", {"x"}, {}, False),
        (".a", "In", {"true"}, {"a": True}, True),
        (".a", "In", {"3"}, {"a": 3}, False),
        (".a", "In", {"3"}, {"a": 3.0}, False),
        (".a", "In", {"3.0"}, {"a": 3.0}, False),
        (".a", "NotIn", {"3"}, {"a": 3}, True),
        (".a", "In", {"3"}, {"a": "3"}, True),
        (".a + 1", "In", {"4"}, {"a": 3}, False),
        (".a | tostring", "In", {"3"}, {"a": 3}, True),
        (".a | tonumber", "In", {"3"}, {"a": "3"}, True),
        (".a | length", "In", {"2"}, {"a": [1, 2]}, True),
        (".a | length == 2", "In", {"true"}, {"a": [1, 2]}, True),
        (".a.[].b", "In", {"x"}, {"a": [{"b": "y"}, {"b": "x"}]}, True),
        (".a", "NotIn", {"x"}, {"a": "y"}, True),
        (".a", "NotIn", {"x"}, {"a": "x"}, False),
        (".a", "NotIn", {"x"}, {}, True),
        (".a.[].b", "NotIn", {"x"}, {"a": "no list"}, True),
        (".a", "Exists", set(), {"a": ""}, True),
        (".a", "Exists", set(), {"a": None}, False),
        (".a", "DoesNotExist", set(), {"a": None}, True),
        (".a", "DoesNotExist", set(), {"a": 0}, False),
        ('.c.[] | select(.t == "R") | .s', "In", {"T"}, {"c": [{"t": "R", "s": "T"}]}, True),
    ],
)
def test_a_condition_holds_as_documented(
    key: str, operator: str, values: set[str], value: Any, holds: bool
) -> None:
    query = jq.compile(key)
    condition = Requirement(query, operator, frozenset(values))

    assert condition.holds(query.values(value)) is holds


def test_labels_annotations_and_conditions_must_all_hold() -> None:
    selector = Selector(
        labels=(("a", "b"),),
        annotations=(("c", "d"),),
        conditions=(Requirement(jq.compile(".x"), "Exists"),),
    )
    whole = {"metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}}, "x": 1}

    assert selector.matches(whole)
    assert not selector.matches({**whole, "x": None})
    assert not selector.matches({"metadata": {"labels": {"a": "b"}}, "x": 1})
    assert not selector.matches({"metadata": {"annotations": {"c": "d"}}, "x": 1})
    assert not selector.matches({"x": 1})


def test_annotations_and_conditions_in_cel_are_looked_at_alone() -> None:
    annotated = Selector(annotations=(("c", "d"),))
    expressed = Selector(expressions=(PythonCondition(lambda value: "x" in value),))

    assert annotated.matches({"metadata": {"annotations": {"c": "d"}}})
    assert not annotated.matches({"metadata": {"annotations": {"c": "e"}}})
    assert expressed.matches({"x": 1})
    assert not expressed.matches({})


def test_an_empty_selector_matches_everything() -> None:
    assert Selector().matches({})
