"""The clock of faults: when it stands still, and what it takes over from a Lease."""

import pytest

from kwokctl.controller.known_faults.fault_clock import FaultClock
from tests.support.faults import NOON


class Day:
    """A clock at a time of day that the test sets."""

    def __init__(self) -> None:
        self.now = NOON
        self.clock = FaultClock(lambda: self.now)
        self.changes = 0
        self.clock.listen(self._changed)

    def _changed(self) -> None:
        self.changes += 1

    @property
    def age(self) -> float:
        """The time on the clock since noon."""
        return self.clock.now() - NOON


@pytest.fixture
def day() -> Day:
    return Day()


def test_it_runs_with_the_time_of_day(day: Day) -> None:
    day.now += 100

    assert day.age == 100


def test_a_start_soon_after_the_last_renewal_loses_nothing(day: Day) -> None:
    day.now += 8

    day.clock.take(0.0, NOON)

    assert day.age == 8


@pytest.mark.parametrize("stood", [15.0, 7 * 86400.0])
def test_it_stands_still_from_the_last_renewal_to_a_later_start(day: Day, stood: float) -> None:
    day.now += stood

    day.clock.take(0.0, NOON)

    assert day.age == 0


def test_what_it_stood_still_before_stays(day: Day) -> None:
    day.clock.take(50.0, NOON)

    assert day.age == -50


def test_a_cluster_that_does_not_answer_does_not_stop_it(day: Day) -> None:
    day.clock.take(0.0, NOON)
    for _ in range(9):
        day.now += 10
        day.clock.run()

    day.clock.take(0.0, NOON)

    assert day.age == 90


def test_an_older_renewal_than_the_last_sets_it_back(day: Day) -> None:
    day.clock.take(0.0, NOON)
    day.now += 100
    day.clock.take(0.0, day.now)

    day.clock.take(0.0, NOON + 5)

    assert day.age == 5
    assert day.changes == 1


@pytest.mark.parametrize("ran", [5.0, 20.0, 40.0])
def test_the_same_renewal_can_be_restored_again_and_again(day: Day, ran: float) -> None:
    """As by rewinds to one mark."""
    day.clock.take(0.0, NOON)
    day.now += 25
    day.clock.take(0.0, day.now)
    for _ in range(3):
        day.clock.take(0.0, NOON)
        assert day.age == 0
        day.now += ran
        day.clock.take(day.clock.stood, day.now)
        assert day.age == ran


def test_a_renewal_by_another_controller_is_taken_over(day: Day) -> None:
    day.clock.take(0.0, NOON)
    day.now += 100

    day.clock.take(60.0, NOON + 99)

    assert day.age == 40


def test_it_stands_still_while_the_process_is_stopped(day: Day) -> None:
    day.clock.run()
    day.now += 600

    day.clock.run()

    assert day.age == 0
    assert day.changes == 1


def test_a_late_notice_is_no_stop(day: Day) -> None:
    day.clock.run()
    day.now += 25

    day.clock.run()

    assert day.age == 25


@pytest.mark.parametrize("hour", [3600.0, -3600.0])
def test_another_controller_whose_time_of_day_is_set_changes_nothing(day: Day, hour: float) -> None:
    """It notices, and says that its clock stood still for as long; a start in between takes its clock over."""
    day.clock.take(0.0, NOON)
    for beat in range(1, 4):
        day.now = NOON + 10 * beat
        day.clock.take(hour, day.now - 1 + hour)
        assert day.age == 10 * beat
    another = Day()
    another.now = NOON + 32
    another.clock.take(hour, NOON + 29 + hour)
    assert abs(another.age - 32) <= 3

    day.now = NOON + 40
    day.clock.take(0.0, NOON + 39.5)

    assert 39.5 <= day.age <= 40
    assert day.changes == 0


@pytest.mark.parametrize("hour", [3600.0, -3600.0])
def test_a_time_of_day_that_is_set_here_costs_no_more_than_the_next_renewal_by_another_controller(
    day: Day, hour: float
) -> None:
    day.clock.take(0.0, NOON)
    day.now = NOON + 10
    day.clock.run()
    day.now = NOON + 20 + hour
    day.clock.run()
    assert day.age == 10

    day.clock.take(0.0, NOON + 19)

    assert day.age == 19


def test_a_renewal_that_an_outage_has_kept_from_us_is_no_pause(day: Day) -> None:
    day.clock.take(0.0, NOON)
    day.now = NOON + 100

    day.clock.take(0.0, NOON + 9)

    assert day.age == 100
