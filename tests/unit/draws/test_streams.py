"""Streams of random numbers: the same everywhere, and independent of each other."""

from itertools import pairwise
from statistics import fmean, variance

import pytest

from kwokctl.draws.streams import DrawStream

_GOLDEN = {
    (0, ("web",), 0): 0.3166274580645284,
    (0, ("web",), 1): 0.7154063521116943,
    (7, ("web", "params", "gpus"), 10**12): 0.6243324204712922,
    (-1, ("",), 0): 0.2608355748027634,
}
"""What was drawn when this was written: a later version, and another platform, must draw the same."""


@pytest.mark.parametrize(("seed", "names", "index"), _GOLDEN)
def test_a_number_is_the_same_everywhere(seed: int, names: tuple[str, ...], index: int) -> None:
    assert DrawStream.of(seed, *names).at(index) == _GOLDEN[seed, names, index]


def test_names_are_told_apart_where_their_letters_are_the_same() -> None:
    streams = [
        DrawStream.of(0, "a", "b"),
        DrawStream.of(0, "ab"),
        DrawStream.of(0, "b", "a"),
        DrawStream.of(1, "ab"),
    ]
    assert len({each.at(0) for each in streams}) == 4


def test_a_stream_below_another_is_not_that_one() -> None:
    one = DrawStream.of(0, "web")
    assert len({one.at(0), one.below("a").at(0), one.below("b").at(0)}) == 3


def test_numbers_are_uniform_and_those_of_two_streams_do_not_go_together() -> None:
    number = 20_000
    one = [DrawStream.of(3, "one").at(index) for index in range(number)]
    other = [DrawStream.of(3, "other").at(index) for index in range(number)]
    assert all(0 < each < 1 for each in one)
    assert fmean(one) == pytest.approx(1 / 2, abs=0.01)
    assert variance(one) == pytest.approx(1 / 12, abs=0.002)
    together = fmean((a - 0.5) * (b - 0.5) for a, b in zip(one, other, strict=True))
    assert abs(together) < 0.002
    following = fmean((a - 0.5) * (b - 0.5) for a, b in pairwise(one))
    assert abs(following) < 0.002
    # The distance of Kolmogorov and Smirnov, at a level of 0.1 %.
    furthest = max(abs(each - rank / number) for rank, each in enumerate(sorted(one)))
    assert furthest < 1.95 / number**0.5
