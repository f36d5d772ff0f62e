from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from kwokctl.controller.stages.compiled_stage import DeleteStep, Kind, Stage
from kwokctl.controller.stages.matcher import Matcher
from kwokctl.controller.stages.selectors import Requirement, Selector
from kwokctl.errors import ExpressionError
from kwokctl.expr import jq

KEYS = (".a", ".b.c", ".l.[].t", '.l.[] | select(.t == "x") | .v', ".n | length", ".a, .b.c")
OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")
TEXTS = ("x", "y", "true", "1", "2")
PLAIN: tuple[Any, ...] = (None, "x", "y", "z", True, 1, 2.0, [], {}, ["x"])


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


def random_stage(random: Random, name: str) -> Stage:
    conditions = [
        Requirement(
            jq.compile(random.choice(KEYS)),
            random.choice(OPERATORS),
            frozenset(random.sample(TEXTS, random.randrange(3))),
        )
        for _ in range(random.randrange(5))
    ]
    labels = (("l", "x"),) if random.random() < 0.2 else ()
    selector = Selector(labels=labels, conditions=tuple(conditions))
    return stage(selector if random.random() < 0.9 else None, name)


def random_object(random: Random) -> dict[str, Any]:
    items = [
        {"t": random.choice(TEXTS), "v": random.choice(PLAIN)} for _ in range(random.randrange(4))
    ]
    labels = {"metadata": {"labels": {"l": random.choice(TEXTS)}}}
    whole = {"a": random.choice(PLAIN), "b": {"c": random.choice(PLAIN)}, "l": items, **labels}
    return {name: value for name, value in whole.items() if random.random() < 0.8}


@pytest.mark.parametrize("seed", range(30))
def test_those_match_that_match_by_themselves_in_their_order(seed: int) -> None:
    random = Random(seed)
    stages = [random_stage(random, str(number)) for number in range(random.randrange(12))]
    matcher = Matcher(stages, room=random.choice((0, 3, 1000)))

    for _ in range(50):
        value = random_object(random)
        assert matcher.matches(value) == tuple(s for s in stages if s.matches(value)), value


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
