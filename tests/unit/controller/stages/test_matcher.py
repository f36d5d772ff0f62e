from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from kwokctl.controller.stages.compiled_stage import DeleteStep, Kind, Stage
from kwokctl.controller.stages.matcher import Matcher
from kwokctl.controller.stages.selectors import Requirement, Selector
from kwokctl.errors import ExpressionError
from kwokctl.expr import jq


@dataclass(frozen=True, eq=False)
class CountedQuery:
    """A query that counts how often it runs."""

    source: str
    runs: Counter[str] = field(default_factory=Counter)

    def values(self, value: Any, /) -> Sequence[Any]:
        self.runs[self.source] += 1
        return jq.compile(self.source).values(value)


@dataclass(frozen=True)
class PythonCondition:
    """A condition that is a Python function."""

    test: Callable[[Any], bool]
    source: str = "cel"

    def holds(self, value: Any, /) -> bool:
        return self.test(value)


def stage(selector: Selector | None, name: str = "s") -> Stage:
    return Stage(name=name, kind=Kind("v1", "Pod"), selector=selector, steps=(DeleteStep(),))


def asking(*conditions: Requirement, name: str = "s") -> Stage:
    return stage(Selector(conditions=conditions), name)


def one_of(query: Any, *texts: str) -> Requirement:
    return Requirement(query, "In", frozenset(texts))


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ({}, {"absent"}),
        ({"a": "x"}, {"x", "there"}),
        ({"a": "y"}, {"y", "there", "other"}),
        ({"a": "z"}, {"there", "other"}),
        ({"a": "z", "b": "x"}, {"x", "there"}),
        ({"a": True}, {"true", "there", "other"}),
    ],
)
def test_each_answer_leads_to_the_stages_that_want_it(
    value: dict[str, Any], names: set[str]
) -> None:
    query = jq.compile(".a, .b")
    there = Requirement(query, "Exists")
    matcher = Matcher(
        [
            *(asking(one_of(query, text), name=text) for text in ("x", "y", "true")),
            asking(there, name="there"),
            asking(Requirement(query, "DoesNotExist"), name="absent"),
            asking(there, Requirement(query, "NotIn", frozenset({"x"})), name="other"),
            stage(None, "without selector"),
        ]
    )

    assert {each.name for each in matcher.matches(value)} == names


def test_annotations_are_looked_at_without_labels_too() -> None:
    matcher = Matcher([stage(Selector(annotations=(("a", "x"),)))])

    assert len(matcher.matches({"metadata": {"annotations": {"a": "x"}}})) == 1
    assert matcher.matches({"metadata": {"annotations": {"a": "y"}}}) == ()


def test_a_tree_without_room_looks_at_each_stage_by_itself() -> None:
    query = CountedQuery(".a")
    matcher = Matcher([asking(one_of(query, text), name=text) for text in ("x", "z")], room=1)

    for _ in range(2):
        assert [each.name for each in matcher.matches({"a": "x"})] == ["x"]
    assert query.runs == {".a": 2}
    assert matcher.matches({"a": "y"}) == ()
    assert query.runs == {".a": 4}


def test_what_most_stages_ask_is_asked_first() -> None:
    often, once = CountedQuery(".often"), CountedQuery(".once")
    first = [asking(one_of(often, text)) for text in ("x", "y")]
    matcher = Matcher([asking(one_of(once, "x"), one_of(often, "x")), *first])

    assert matcher.matches({"often": "z", "once": "x"}) == ()
    assert not once.runs


def test_a_field_is_read_once_for_all_stages() -> None:
    phase, deleted = CountedQuery(".phase"), CountedQuery(".deleted")
    matcher = Matcher(
        [
            asking(Requirement(deleted, "DoesNotExist"), one_of(phase, str(number % 3)), name="s")
            for number in range(50)
        ]
    )

    assert len(matcher.matches({"phase": "1"})) == 17
    assert phase.runs + deleted.runs == {".phase": 1, ".deleted": 1}


def test_what_matters_to_no_stage_any_more_is_not_read() -> None:
    costly = CountedQuery(".costly")
    matcher = Matcher([asking(one_of(jq.compile(".a"), "x"), Requirement(costly, "Exists"))])

    assert matcher.matches({"a": "y", "costly": 1}) == ()
    assert not costly.runs


def test_labels_come_before_conditions_and_conditions_in_cel_after() -> None:
    read = CountedQuery(".a")
    asked: Counter[str] = Counter()
    condition = PythonCondition(lambda value: not asked.update(value.keys()))
    selector = Selector(
        labels=(("l", "x"),), conditions=(one_of(read, "x"),), expressions=(condition,)
    )
    matcher = Matcher([stage(selector)])

    assert matcher.matches({"a": "x"}) == ()
    assert not read.runs
    assert matcher.matches({"metadata": {"labels": {"l": "x"}}, "a": "y"}) == ()
    assert not asked
    assert len(matcher.matches({"metadata": {"labels": {"l": "x"}}, "a": "x"})) == 1
    assert asked["a"] == 1


def test_a_condition_in_cel_that_fails_is_an_error() -> None:
    def fail(_: Any) -> bool:
        raise ExpressionError("no")

    matcher = Matcher([stage(Selector(expressions=(PythonCondition(fail),)))])

    with pytest.raises(ExpressionError, match="no"):
        matcher.matches({})
