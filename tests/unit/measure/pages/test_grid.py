"""Bins of a page: their number is bounded, and their values are those of the figures."""

import pytest

from kwokctl.measure.figures.values import Levels, Series
from kwokctl.measure.pages.grid import (
    MOST_BINS,
    TimeGrid,
    grid_of,
    in_bins,
    rates_in_bins,
    whole_seconds,
)


def level(*values: float, start: float = 0.0, step: float = 1.0) -> Levels:
    return Levels(
        mean=0, min=0, max=0, first=0, last=0, start=start, step=step, values=values
    )  # fmt: skip


@pytest.mark.parametrize(
    ("seconds", "step", "count"),
    [
        (0.0, 1, 1),
        (0.4, 1, 1),
        (600.0, 1, 600),
        (600.5, 2, 301),
        (3600.0, 10, 360),
        (86_400.0, 200, 432),
    ],
)
def test_bins_are_as_short_as_their_number_allows(seconds: float, step: float, count: int) -> None:
    grid = whole_seconds(seconds)

    assert grid == TimeGrid(0.0, step, count)
    assert grid.count <= MOST_BINS
    assert grid.end >= seconds


def test_a_level_in_its_own_bins_is_as_the_figure_has_it() -> None:
    one = level(1.25, 2.5, 3)

    assert in_bins(one, grid_of([one])) == [1.25, 2.5, 3]


def test_a_level_in_longer_bins_is_the_mean_by_time_and_unknown_where_it_was_not_seen() -> None:
    grid = TimeGrid(0.0, 2.0, 4)

    assert in_bins(level(1, 3, 5, start=1.0), grid) == [1, 4, None, None]


def test_levels_of_different_bins_share_the_longest() -> None:
    assert grid_of([level(1, 2, 3, start=1.0), level(1, step=2.0)]) == TimeGrid(0.0, 2.0, 2)


def test_a_rate_is_what_happened_in_a_bin_by_its_length() -> None:
    happened = Series(count=9, start=3.0, values=(2, 4, 0, 3), peak=4, sustained=None)

    assert rates_in_bins(happened, TimeGrid(0.0, 1.0, 8)) == [0, 0, 0, 2, 4, 0, 3, 0]
    assert rates_in_bins(happened, TimeGrid(0.0, 4.0, 2)) == [0.5, 1.75]


def test_what_happened_at_the_very_end_is_in_the_last_bin() -> None:
    last = Series(count=1, start=10.0, values=(1,), peak=1, sustained=None)

    assert rates_in_bins(last, TimeGrid(0.0, 5.0, 2)) == [0.0, 0.2]
