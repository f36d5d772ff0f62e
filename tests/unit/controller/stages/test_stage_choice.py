""""""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from kwokctl.controller.stages.compiled_stage import Delay, DeleteStep, Kind, Stage
from kwokctl.controller.stages.selectors import Selector
from kwokctl.controller.stages.stage_choice import basis, pick, possible, seconds

POD = Kind("v1", "Pod")
NOON = 1_767_268_800.0  # 2026-01-01T12:00:00Z


@dataclass(frozen=True)
class Finds:
    """A query that always finds the same."""

    found: tuple[Any, ...] = ()

    def values(self, value: Any, /) -> Sequence[Any]:
        return self.found


@dataclass(frozen=True)
class Field:
    """A query for one field of the object."""

    name: str
    cache: dict[str, str] = field(default_factory=dict, compare=False)

    def values(self, value: Any, /) -> Sequence[Any]:
        return [value[self.name]] if value.get(self.name) is not None else []


def stage(name: str, *, weight: int = 0, weight_from: Any = None, delay: Any = None) -> Stage:
    return Stage(
        name=name,
        kind=POD,
        selector=Selector(),
        steps=(DeleteStep(),),
        weight=weight,
        weight_from=weight_from,
        delay=delay,
    )


def chosen(*stages: Stage, tries: int = 400) -> Counter[str]:
    random = Random(7)
    found = basis(stages, {})
    picks = (pick(found, random) for _ in range(tries))
    return Counter(one.name for one in picks if one is not None)


def test_a_stage_without_selector_never_matches() -> None:
    lone = Stage(name="a", kind=POD, selector=None, steps=(DeleteStep(),))

    assert pick(basis([lone], {}), Random(1)) is None


def test_a_single_match_is_taken_whatever_its_weight() -> None:
    assert chosen(stage("a", weight=0)) == {"a": 400}
    assert chosen(stage("a", weight=-5)) == {"a": 400}


def test_weights_are_proportional_and_zero_is_left_out() -> None:
    counts = chosen(stage("a", weight=1), stage("b", weight=3), stage("c", weight=0))

    assert set(counts) == {"a", "b"}
    assert 0.6 < counts["b"] / 400 < 0.9


def test_if_all_weights_are_zero_the_choice_is_uniform() -> None:
    counts = chosen(stage("a"), stage("b"))

    assert 100 < counts["a"] < 300


def test_a_stage_whose_weight_is_unreadable_is_left_out_unless_all_are() -> None:
    lost = stage("lost", weight_from=Finds(("many",)))

    assert set(chosen(lost, stage("a"))) == {"a"}
    assert set(chosen(lost, stage("a", weight_from=Finds(("",))))) == {"lost", "a"}


@pytest.mark.parametrize(
    "weights", [(), (0,), (0, 0), (1, 0), (1, 3), (-5, 1), (2, None), (0, None), (None, None)]
)
def test_what_is_possible_is_chosen_sometimes(weights: tuple[int | None, ...]) -> None:
    stages = [
        stage(str(n), weight_from=Finds(("many",) if weight is None else (weight,)))
        for n, weight in enumerate(weights)
    ]

    assert {each.name for each in possible(basis(stages, {}))} == set(chosen(*stages))


@pytest.mark.parametrize(
    ("found", "weight"),
    [((7,), 7), ((7.9,), 7), (("12",), 12), ((), 3), ((True,), 3), (({},), 3), ((1e999,), None)],
)
def test_a_weight_is_read_from_the_object(found: tuple[Any, ...], weight: int | None) -> None:
    one = stage("a", weight=3, weight_from=Finds(found))

    assert basis([one, stage("b")], {}).weights[0] == weight


@pytest.mark.parametrize(
    ("delay", "expected"),
    [
        (None, 0.0),
        (Delay(), 0.0),
        (Delay(base=5.0), 5.0),
        (Delay(base=5.0, bound=5.0), 5.0),
        (Delay(base=5.0, bound=2.0), 2.0),
        (Delay(base_from=Finds(("90s",)), base=1.0), 90.0),
        (Delay(base_from=Finds(("1m30s",))), 90.0),
        (Delay(base_from=Finds(("-5s",))), 0.0),
        (Delay(base_from=Finds(("2026-01-01T12:00:10Z",))), 10.0),
        (Delay(base_from=Finds(("2026-01-01T11:00:00Z",))), 0.0),
        (Delay(base_from=Finds(()), base=4.0), 4.0),
        (Delay(base_from=Finds(("soon",)), base=4.0), 4.0),
        (Delay(base_from=Finds((12,)), base=4.0), 4.0),
        (Delay(base_from=Finds(("",)), base=4.0, bound=9.0), 0.0),
        (Delay(base=1.0, bound_from=Finds(("",)), bound=9.0), 1.0),
        (Delay(base=3.0, bound_from=Finds(("2026-01-01T12:00:01Z",))), 1.0),
    ],
)
def test_a_delay_is_computed(delay: Delay | None, expected: float) -> None:
    assert seconds(delay, {}, NOON, Random(1)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("base", "bound", "fields"),
    [
        (("90s",), (), []),
        (("",), ("2026-01-01T12:00:01Z",), []),
        (("120",), (), ["spec.delay.durationFrom"]),
        (("5s",), ("1d",), ["spec.delay.jitterDurationFrom"]),
        ((12,), (True,), ["spec.delay.durationFrom", "spec.delay.jitterDurationFrom"]),
    ],
)
def test_a_delay_that_cannot_be_read_is_told(
    base: tuple[Any, ...], bound: tuple[Any, ...], fields: list[str]
) -> None:
    told: list[str] = []
    delay = Delay(base_from=Finds(base), bound_from=Finds(bound), base=4.0)

    seconds(delay, {}, NOON, Random(1), lambda field, _: told.append(field))
    assert told == fields


def test_a_delay_lies_between_base_and_bound() -> None:
    random = Random(3)
    delays = [seconds(Delay(base=20.0, bound=25.0), {}, NOON, random) for _ in range(200)]

    assert 20.0 <= min(delays) < 20.5
    assert 24.5 < max(delays) < 25.0


def test_the_grounds_of_a_choice_change_with_what_it_depends_on_only() -> None:
    timed = stage("a", delay=Delay(base_from=Field("when")))

    assert basis([timed], {"when": "5s", "x": 1}) == basis([timed], {"when": "5s", "x": 2})
    assert basis([timed], {"when": "5s"}) != basis([timed], {"when": "6s"})
