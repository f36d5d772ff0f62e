"""When enough pods of a gang are in a check at the same time."""

import pytest

from kwokctl.training.check_times import CheckTime, Together, together

FIRST, SECOND, THIRD = CheckTime(0, 10), CheckTime(5, 15), CheckTime(20, 30)


@pytest.mark.parametrize(
    ("after", "found"),
    [
        (0, Together(most=2, since=5)),
        # Two were there before, and one still is.
        (12, Together(most=1, since=None)),
        (10, Together(most=1, since=None)),
    ],
)
def test_two_runs_are_together_from_the_start_of_the_second(after: float, found: Together) -> None:
    assert together([THIRD, SECOND, FIRST], 2, after) == found


def test_runs_that_ended_before_count_for_nothing() -> None:
    assert together([FIRST, SECOND], 2, after=20) == Together(most=0, since=None)


def test_the_first_time_counts_though_more_come_later() -> None:
    assert together([FIRST, SECOND, CheckTime(6, 8)], 2, after=0) == Together(most=3, since=5)
