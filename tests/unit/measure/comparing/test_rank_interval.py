"""The interval of a ratio, against tables and against counting all arrangements."""

from itertools import combinations, product
from statistics import NormalDist

import pytest

from kwokctl.draws.streams import DrawStream
from kwokctl.measure.comparing.rank_interval import rank_interval

ONE_TO_FIVE = (1.0, 2.0, 3.0, 4.0, 5.0)


def test_the_ratio_is_the_median_of_all_ratios_and_the_ends_are_among_them() -> None:
    a, b = (1.0, 2.0, 4.0, 8.0), (3.0, 5.0, 6.0, 7.0)

    found = rank_interval(a, b)

    ratios = sorted(y / x for x, y in product(a, b))
    assert found is not None
    assert found.ratio == (ratios[7] + ratios[8]) / 2
    assert (found.low, found.high) == (ratios[0], ratios[-1])
    assert found.false_alarms == pytest.approx(1 / 70)


@pytest.mark.parametrize(
    ("runs", "others", "left_out"),
    # The critical values of the Mann-Whitney test, two-sided at 5 %, as books print them.
    [(4, 4, 0), (5, 3, 0), (5, 5, 2), (6, 6, 5), (7, 7, 8), (8, 8, 13), (10, 10, 23), (20, 20, 127), (5, 10, 8)],
)  # fmt: skip
def test_as_many_ratios_are_left_out_as_tables_say(runs: int, others: int, left_out: int) -> None:
    a = tuple(2.0**place for place in range(runs))
    b = tuple(3.0**place for place in range(others))

    found = rank_interval(a, b)

    ratios = sorted(y / x for x, y in product(a, b))
    assert found is not None
    assert (found.low, found.high) == (ratios[left_out], ratios[-1 - left_out])


@pytest.mark.parametrize(("runs", "others"), [(1, 1), (3, 3), (4, 3), (2, 7)])
def test_too_few_runs_have_no_interval(runs: int, others: int) -> None:
    assert rank_interval((1.0,) * runs, (2.0,) * others) is None


def test_false_alarms_are_as_frequent_as_counting_all_arrangements_says() -> None:
    values = range(1, 11)
    alarms = arrangements = 0
    said = set[float]()
    for chosen in combinations(values, 5):
        found = rank_interval(chosen, [each for each in values if each not in chosen])
        assert found is not None
        arrangements += 1
        alarms += found.low > 1
        said.add(found.false_alarms)

    assert (alarms, arrangements) == (4, 252)
    assert [*said] == [pytest.approx(4 / 252)]


def test_zero_is_as_often_zero_as_it_is() -> None:
    same = rank_interval((0.0,) * 5, (0.0,) * 5)
    more = rank_interval((0.0,) * 5, ONE_TO_FIVE)

    assert same is not None
    assert (same.ratio, same.low, same.high) == (1, 1, 1)
    assert more is not None
    assert (more.low, more.high) == (float("inf"), float("inf"))


def drawn(stream: DrawStream, first: int, number: int, factor: float = 1.0) -> list[float]:
    """Return runs whose values vary by a tenth, and now and then by much more."""
    values = (NormalDist(1, 0.1).inv_cdf(stream.at(first + place)) for place in range(number))
    rare = (1.3 if stream.at(10_000 + first + place) < 0.1 else 1.0 for place in range(number))
    return [factor * value * much for value, much in zip(values, rare, strict=True)]


def test_of_pairs_of_equal_runs_as_few_are_called_worse_as_it_says() -> None:
    stream = DrawStream.of(1, "equal")
    pairs = [(drawn(stream, 20 * pair, 5), drawn(stream, 20 * pair + 5, 5)) for pair in range(400)]
    found = [rank_interval(*pair) for pair in pairs]

    worse = [each.low > 1 for each in found if each]
    assert len(worse) == 400
    assert max(sum(worse[first : first + 20]) for first in range(0, 400, 20)) <= 2
    assert sum(worse) / 400 <= 2 * 4 / 252


def test_seven_runs_show_a_difference_of_thirty_percent_in_nine_of_ten() -> None:
    stream = DrawStream.of(2, "slower")
    pairs = [
        (drawn(stream, 20 * pair, 7), drawn(stream, 20 * pair + 7, 7, 1.3)) for pair in range(100)
    ]
    found = [rank_interval(*pair) for pair in pairs]

    assert sum(each.low > 1 for each in found if each) >= 90
