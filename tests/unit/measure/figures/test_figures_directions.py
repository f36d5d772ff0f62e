"""Which value of a figure is the better one."""

import pytest

from kwokctl.measure.figures.figure_catalogue import FIGURES, NAMED_BY_NODES


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
        ("fleet.requested.cpu", "mean", "neither"),
        ("fleet.fragmentation.DEVICE", "mean", "less"),
        ("fleet.largest_gang.DEVICE", "min", "more"),
        ("fleet.spread.LABEL", "max", "less"),
        ("fleet.evictions", "", "less"),
        ("api.mutating", "p99", "less"),
        ("api.mutating", "count", "neither"),
        ("api.binding_rate", "", "more"),
        ("components.memory", "max", "less"),
        ("scheduler.attempts", "", "neither"),
        ("clients.conflicts", "", "less"),
        ("clients.requests", "", "neither"),
    ],
)
def test_latencies_are_better_if_less_rates_if_more_and_counts_neither(
    name: str, statistic: str, better: str
) -> None:
    [figure] = [each for each in (*FIGURES, *NAMED_BY_NODES) if each.name == name]

    assert figure.direction_of(statistic) == better
