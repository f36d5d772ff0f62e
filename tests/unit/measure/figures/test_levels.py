"""Levels over time, against what is computed by hand."""

from kwokctl.measure.figures.levels import MOST_POINTS, after_steps, levels
from kwokctl.measure.figures.values import Levels, Missing
from tests.support.measured import MS, SECOND


def level_of(*changes: tuple[int, float], begin: int = 0, end: int = 10 * SECOND) -> Levels:
    found = levels(changes, begin, end)
    assert isinstance(found, Levels)
    return found


def test_the_mean_of_a_level_is_weighted_by_time() -> None:
    found = level_of((0, 0), (2 * SECOND, 4), (7 * SECOND, 1), (9 * SECOND, 2))

    # 2 s of 0, 5 s of 4, 2 s of 1, and 1 s of 2: 24 in 10 s
    assert (found.mean, found.min, found.max) == (2.4, 0, 4)
    assert (found.first, found.last) == (0, 2)


def test_the_points_of_a_level_are_the_means_of_equal_steps() -> None:
    short = level_of((0, 1), (1500 * MS, 3), end=3500 * MS)
    long = level_of((0, 1), (1600 * SECOND, 0), end=1601 * SECOND)

    assert (short.start, short.step, short.values) == (0, 1, (1, 2, 3, 3))
    # 1601 points of a second are too many, and so are 801 of two: the last step is of one second only
    assert (long.step, long.values) == (5, (1.0,) * 320 + (0.0,))
    assert len(level_of((0, 1), end=MOST_POINTS * SECOND).values) == MOST_POINTS


def test_what_a_level_was_before_the_beginning_it_is_then_too() -> None:
    found = level_of((1 * SECOND, 7), (3 * SECOND, 5), (6 * SECOND, 1), begin=4 * SECOND)

    assert (found.start, found.max, found.values) == (0, 5, (5, 5, 1, 1, 1, 1))
    assert (found.first, found.last) == (5, 1)


def test_a_level_is_known_from_its_first_change_on() -> None:
    found = level_of((6 * SECOND, 2), begin=4 * SECOND)

    assert (found.start, found.mean, found.values) == (2, 2, (2, 2, 2, 2))
    assert levels([], 0, SECOND, what="no sample") == Missing("no sample")
    assert levels([(2 * SECOND, 1)], 0, SECOND) == Missing("it was never seen")


def test_of_changes_at_one_time_only_the_last_counts() -> None:
    found = level_of((0, 1), (5 * SECOND, 900), (5 * SECOND, 2))

    assert (found.max, found.last, found.mean) == (2, 2, 1.5)


def test_a_level_of_a_run_without_length_is_what_it_was() -> None:
    found = level_of((0, 3), begin=SECOND, end=SECOND)

    assert (found.mean, found.min, found.max, found.last) == (3, 3, 3, 3)


def test_steps_rise_and_fall_from_zero() -> None:
    assert [*after_steps([(5, -1), (3, 1), (3, 1)])] == [(0, 0), (3, 1), (3, 2), (5, 1)]
