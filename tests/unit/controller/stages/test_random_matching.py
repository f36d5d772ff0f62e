"""Random Stages and objects: the tree of questions finds the Stages that match by themselves."""

from random import Random
from typing import Any

import pytest

from kwokctl.controller.stages.compiled_stage import Stage
from kwokctl.controller.stages.matcher import Matcher
from kwokctl.controller.stages.selectors import Requirement, Selector
from kwokctl.expr import jq
from tests.unit.controller.stages.test_matcher import stage

KEYS = (".a", ".b.c", ".l.[].t", '.l.[] | select(.t == "x") | .v', ".n | length", ".a, .b.c")
OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")
TEXTS = ("x", "y", "true", "1", "2")
PLAIN: tuple[Any, ...] = (None, "x", "y", "z", True, 1, 2.0, [], {}, ["x"])


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


@pytest.mark.parametrize("seed", range(10))
def test_those_match_that_match_by_themselves_in_their_order(seed: int) -> None:
    random = Random(seed)
    stages = [random_stage(random, str(number)) for number in range(random.randrange(12))]
    matcher = Matcher(stages, room=random.choice((0, 3, 1000)))

    for _ in range(50):
        value = random_object(random)
        assert matcher.matches(value) == tuple(s for s in stages if s.matches(value)), value
