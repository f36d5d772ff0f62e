"""Distributions: what they give for a share, their shape over many draws, and what they refuse."""

import math
from collections import Counter
from statistics import NormalDist, fmean, median, stdev
from typing import Any

import msgspec
import pytest

from kwokctl.draws.drawn import Drawn
from kwokctl.draws.streams import DrawStream

_MANY = 20_000
_FURTHEST = 1.95 / _MANY**0.5
"""The distance of Kolmogorov and Smirnov that one in a thousand samples exceeds."""
_NORMAL = NormalDist()
_SIGMA = math.log(300 / 60) / _NORMAL.inv_cdf(0.95)


def drawn(document: Any) -> list[Any]:
    shape = msgspec.convert(document, Drawn)
    stream = DrawStream.of(5, "test")
    return [shape.at(stream, index) for index in range(_MANY)]


@pytest.mark.parametrize(
    ("document", "below"),
    [
        ({"uniform": {"from": 2, "to": 6}}, lambda x: (x - 2) / 4),
        ({"normal": {"mean": 10, "sd": 3}}, NormalDist(10, 3).cdf),
        ({"lognormal": {"p50": 60, "p95": 300}}, lambda x: _NORMAL.cdf(math.log(x / 60) / _SIGMA)),
        ({"exponential": {"mean": 20}}, lambda x: 1 - math.exp(-x / 20)),
    ],
)
def test_draws_follow_their_distribution(document: Any, below: Any) -> None:
    found = sorted(drawn(document))
    assert max(abs(below(x) - rank / _MANY) for rank, x in enumerate(found)) < _FURTHEST


def test_draws_have_the_moments_that_were_given() -> None:
    normal = drawn({"normal": {"mean": 10, "sd": 3}})
    assert fmean(normal) == pytest.approx(10, abs=0.1)
    assert stdev(normal) == pytest.approx(3, abs=0.1)
    assert fmean(drawn({"exponential": {"mean": 20}})) == pytest.approx(20, rel=0.03)
    lognormal = sorted(drawn({"lognormal": {"p50": 60, "p95": 300}}))
    assert median(lognormal) == pytest.approx(60, rel=0.05)
    assert lognormal[_MANY * 95 // 100] == pytest.approx(300, rel=0.06)


def test_whole_numbers_are_all_drawn_equally_often() -> None:
    counts = Counter(drawn({"integer": {"from": 1, "to": 4}}))
    assert sorted(counts) == [1, 2, 3, 4]
    assert all(abs(count - _MANY / 4) < 300 for count in counts.values())


def test_a_choice_is_made_as_often_as_its_weight_says() -> None:
    counts = Counter(drawn({"choice": {"values": ["a", "b", "never"], "weights": [3, 1, 0]}}))
    assert set(counts) == {"a", "b"}
    assert counts["a"] / _MANY == pytest.approx(0.75, abs=0.015)
    equal = Counter(drawn({"choice": [1, 2]}))
    assert equal[1] / _MANY == pytest.approx(0.5, abs=0.015)


def test_a_normal_distribution_is_cut_where_it_was_asked_for() -> None:
    found = drawn({"normal": {"mean": 10, "sd": 3, "min": 9, "max": 12}})
    assert min(found) == 9
    assert max(found) == 12


@pytest.mark.parametrize(
    ("document", "value"),
    [
        ({"choice": ["a", "b"]}, "b"),
        ({"uniform": {"from": 2, "to": 6}}, 5.80607296456),
        ({"integer": {"from": 1, "to": 100}}, 96),
        ({"normal": {"mean": 10, "sd": 3}}, 14.9792684607),
        ({"lognormal": {"p50": 60, "p95": 300}}, 304.406546378),
        ({"exponential": {"mean": 20}}, 60.5313531554),
    ],
)
def test_a_draw_is_the_same_everywhere(document: Any, value: object) -> None:
    assert msgspec.convert(document, Drawn).at(DrawStream.of(1, "golden"), 2) == value


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({}, "one of 'choice', 'uniform', .* is needed"),
        ({"choice": [1], "integer": {"from": 1, "to": 2}}, "'choice', 'integer': only one"),
        ({"choice": []}, "nothing to choose from"),
        ({"choice": {"values": []}}, "no 'values' to choose from"),
        ({"choice": {"values": [1, 2], "weights": [1]}}, "2 values and 1 weights"),
        ({"choice": {"values": [1, 2], "weights": [1, -1]}}, "must not be negative"),
        ({"choice": {"values": [1, 2], "weights": [0, 0]}}, "one must be more than 0"),
        ({"uniform": {"from": 1}}, r"missing required field `to` - at `\$.uniform`"),
        ({"uniform": {"from": 3, "to": 1}}, r"'from' is 3, more than 'to', 1 - at `\$.uniform`"),
        (
            {"integer": {"from": 1.5, "to": 3}},
            r"Expected `int`, got `float` - at `\$.integer.from`",
        ),
        ({"normal": {"mean": 1, "sd": -1}}, "'sd' must not be negative"),
        ({"normal": {"mean": 1, "sd": 1, "min": 2, "max": 1}}, "'min' is 2, more than 'max', 1"),
        ({"lognormal": {"p50": 60}}, "missing required field `p95`"),
        ({"lognormal": {"p50": 0, "p95": 1}}, "'p50' must be more than 0"),
        ({"lognormal": {"p50": 60, "p95": 6}}, "'p95' is 6, less than 'p50', 60"),
        ({"exponential": {"mean": 0}}, "'mean' must be more than 0"),
        ({"gamma": {"mean": 0}}, "unknown field `gamma`"),
    ],
)
def test_what_is_no_distribution_is_refused(document: Any, said: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=said):
        msgspec.convert(document, Drawn)
