"""A function that is traced on one object computes the same for others, or says that it does not."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from kwokctl.expr.gotemplate.symbols import NotSymbolicError, deferring
from kwokctl.specialization.holes import Hole, HoleContent
from kwokctl.specialization.source import FunctionNames, MisfitError, Source

SHAPE = [Hole(0), Hole(1)]
NO_FUNCTIONS = FunctionNames((), (), ())


def traced(function: Callable[..., Any], *texts: str, now: float) -> Callable[..., Any]:
    """Trace a function of two texts and a number on one object; return what it is for others."""
    source = Source(SHAPE, texts, {}, NO_FUNCTIONS, {"now": now}, times=())
    first, second = (source.opened(hole) for hole in SHAPE)
    result = function(first, second, source.number("now"))
    compute = source.compute((), (result,))

    def run(first: str, second: str, now: float) -> Any:
        _, [found] = compute((first, second), {}, now)
        return found

    return run


@pytest.mark.parametrize(
    "function",
    [
        lambda first, second, now: now + 0.1 + 0.2,
        lambda first, second, now: 5.0 - now,
        lambda first, second, now: (now - 2.5) / 3.0,
        lambda first, second, now: min(now + 1.0, now + 0.5, math.inf),
        lambda first, second, now: max([now, -math.inf]),
        lambda first, second, now: now + 1 / 3,
        lambda first, second, now: now + math.inf,
        lambda first, second, now: math.inf - now,
        lambda first, second, now: 1 if now < math.inf else 2,
        lambda first, second, now: deferring(str.upper)(first),
        lambda first, second, now: deferring("{}/{}".format)(second, first),
    ],
)
def test_what_decides_nothing_is_computed_for_all(function: Callable[..., Any]) -> None:
    run = traced(function, "a", "b", now=1.25)

    for first, second, now in (("a", "b", 1.25), ("c", "d", 1e9 + 0.1), ("é", '"', -7.0)):
        assert run(first, second, now) == function(first, second, now)


@pytest.mark.parametrize(
    ("function", "alike", "others"),
    [
        (lambda _, __, now: now + 1 if now >= 10.0 else 0.0, [10.0, 11.5], [9.9]),
        (lambda _, __, now: 1 if 1.0 < now <= 20.0 else 2, [11.0, 20.0], [1.0, 20.5]),
        (lambda _, __, now: 1 if now < 20.0 else 2, [19.9, 1.0], [20.0]),
        (lambda _, __, now: 1 if now < 10.0 else 2, [20.0, 10.0], [9.9]),
        (lambda _, __, now: int(now / 4.0) % 2, [8.0, 11.9], [7.9, 12.0]),
        (lambda _, __, now: 1 if now == 10.0 else 2, [10.0], [10.5, 9.5]),
    ],
)
def test_what_a_number_decides_is_for_those_for_which_it_decides_the_same(
    function: Callable[..., Any], alike: list[float], others: list[float]
) -> None:
    run = traced(function, "a", "b", now=10.0)

    for now in alike:
        assert run("a", "b", now) == function("a", "b", now)
    for now in others:
        with pytest.raises(MisfitError):
            run("a", "b", now)


def test_whether_texts_are_equal_is_decided() -> None:
    def function(first: str, second: str, _: float) -> bool:
        return {"x": [first, "c"]} == {"x": [second, "c"]} or first == "d"

    run = traced(function, "a", "a", now=0.0)

    assert run("b", "b", 0.0) is True
    with pytest.raises(MisfitError):
        run("a", "b", 0.0)


def test_a_text_is_no_number() -> None:
    assert traced(lambda first, _, __: first in (1, None), "1", "b", now=0.0)("2", "b", 0) is False


@pytest.mark.parametrize(
    "function",
    [
        lambda first, second, now: {first: 1},
        lambda first, second, now: f"{first}",
        lambda first, second, now: f"{now:g}",
        lambda first, second, now: "yes" if now else "no",
        lambda first, second, now: first == now,
        lambda first, second, now: first in frozenset(("a", "z")),
        lambda first, second, now: deferring(lambda number: number * math.inf)(now),
        lambda first, second, now: deferring(len)(first),
        lambda first, second, now: deferring(lambda text: "")(first),
    ],
)
def test_what_cannot_be_traced_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises((NotSymbolicError, TypeError)):
        traced(function, "a", "b", now=1.0)


def test_texts_of_the_moment_are_times() -> None:
    source = Source(SHAPE, ("a", "b"), {}, NO_FUNCTIONS, {"now": 1.0}, times=(str,))
    time = deferring(str)(source.number("now"))

    assert source.hole(time).content is HoleContent.TIME
    assert source.hole(deferring(str.upper)(source.opened(SHAPE[0]))).content is HoleContent.TEXT
