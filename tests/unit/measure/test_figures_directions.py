"""Which value of a figure is the better one."""

import pytest

from kwokctl.measure.figures.catalogue import FIGURES


@pytest.mark.parametrize(
    ("name", "statistic", "better"),
    [
        ("pods.created_to_bound", "p99", "less"),
        ("pods.created_to_bound", "count", "neither"),
        ("pods.created_to_bound", "open", "neither"),
        ("pods.running_to_ended", "p50", "neither"),
        ("pods.bound", "", "neither"),
        ("rates.bound", "sustained", "more"),
        ("rates.bound", "count", "neither"),
        ("rates.created", "peak", "neither"),
        ("jobs.jct", "mean", "less"),
        ("jobs.occupancy", "p50", "neither"),
        ("jobs.makespan", "", "less"),
        ("jobs.scheduling_growth", "", "neither"),
        ("api.availability", "", "more"),
        ("arrivals.answer", "p99", "less"),
    ],
)
def test_latencies_are_better_if_less_rates_if_more_and_counts_neither(
    name: str, statistic: str, better: str
) -> None:
    [figure] = [each for each in FIGURES if each.name == name]

    assert figure.direction_of(statistic) == better
