import pytest

from kwokctl.measure.figures.values import (
    Durations,
    Missing,
    Series,
    distribution,
    percentile,
    series,
)
from tests.support.measured import MS, SECOND


@pytest.mark.parametrize(
    ("share", "value"), [(50, 5.0), (51, 6.0), (90, 9.0), (99, 10.0), (100, 10.0), (1, 1.0)]
)
def test_a_percentile_is_the_nearest_rank_and_one_of_the_values(share: float, value: float) -> None:
    assert percentile([float(each) for each in range(1, 11)], share) == value


@pytest.mark.parametrize(("count", "p99"), [(1, 1.0), (99, 99.0), (100, 99.0), (101, 100.0)])
def test_the_p99_of_up_to_99_values_is_the_largest(count: int, p99: float) -> None:
    assert percentile([float(each) for each in range(1, count + 1)], 99) == p99


def test_a_distribution_counts_beside_its_values_what_is_lost_or_open() -> None:
    assert distribution([4 * MS, MS, 25 * MS], left_out=2, still_open=1) == Durations(
        count=3,
        mean=0.01,
        min=0.001,
        p50=0.004,
        p90=0.025,
        p99=0.025,
        max=0.025,
        histogram=((0.001, 1), (0.005, 1), (0.05, 1)),
        left_out=2,
        open=1,
    )


def test_a_distribution_without_values_is_missing_and_never_zero() -> None:
    assert distribution([], what="no pod was bound") == Missing("no pod was bound")
    lost = "of 2 that ended, the times were lost or never seen"
    assert distribution([], left_out=2) == Missing(lost)


def test_a_series_counts_each_second_and_the_most_in_any_second() -> None:
    times = [2 * SECOND + each for each in (900 * MS, 950 * MS, 1100 * MS, 1899 * MS, 1901 * MS)]

    assert series(times, SECOND) == Series(
        count=5, start=1.0, values=(2, 3), peak=4, sustained=None
    )


def test_a_sustained_rate_is_that_of_the_best_ten_seconds() -> None:
    slow = [each * SECOND for each in range(5)]
    fast = [5 * SECOND + each * 100 * MS for each in range(100)]

    found = series([*slow, *fast], 0)

    assert isinstance(found, Series)
    assert (found.peak, found.sustained) == (10, 10.0)


def test_a_series_of_exactly_ten_seconds_has_a_sustained_rate() -> None:
    shorter = series([0, 10 * SECOND - 1], 0)
    long = series([0, 10 * SECOND], 0)

    assert isinstance(shorter, Series)
    assert shorter.sustained is None
    assert isinstance(long, Series)
    assert long.sustained == 0.1


def test_what_never_happened_has_no_rate() -> None:
    assert series([], 0) == Missing("it never happened")
