"""Values over time: in bins, of which there are never more than the page can show."""

import pytest

from kwokctl.view.state.timeline import MOST_BINS, Timeline


def recorded(seconds: int, span: float, names: tuple[str, ...] = ("x",)) -> Timeline:
    """Return a timeline to which each second its number was recorded."""
    timeline = Timeline(names, span)
    for second in range(seconds):
        timeline.record(second + 0.5, [float(second)] * len(names))
    return timeline


def values(timeline: Timeline) -> list[float | None]:
    return [each[0] for each in timeline.bins]


def test_a_value_is_the_mean_of_its_bin_and_only_complete_bins_are_shown() -> None:
    timeline = Timeline(("x", "y"), 600)
    for time, x in ((3.1, 2.0), (3.6, 4.0), (4.2, 9.0)):
        timeline.record(time, (x, None))
    assert (timeline.start, timeline.bins) == (3.0, [(3.0, None)])


def test_a_second_without_records_has_no_value() -> None:
    timeline = Timeline(("x",), 600)
    for time in (0.0, 1.0, 4.0, 5.0):
        timeline.record(time, (time,))
    assert values(timeline) == [0.0, 1.0, None, None, 4.0]


def test_a_long_pause_leaves_no_more_bins_than_others() -> None:
    timeline = Timeline(("x",), 600)
    timeline.record(0.0, (1.0,))
    timeline.record(1e6, (2.0,))
    timeline.record(1e6 + 1, (3.0,))
    assert len(timeline.bins) < MOST_BINS
    assert values(timeline)[-1] == 2.0
    assert timeline.start + len(timeline.bins) == 1e6 + 1


def test_old_bins_go_when_the_time_is_over_that_is_kept() -> None:
    timeline = recorded(5000, 600)
    assert timeline.step == 1.0
    assert (timeline.start, values(timeline)[0]) == (4400.0, 4400.0)
    assert values(timeline)[-1] == 4998.0


@pytest.mark.parametrize("seconds", [599, 600, 601, 1199, 1203, 2500, 4801, 9999])
def test_bins_become_longer_until_they_span_the_time_that_is_wanted(seconds: int) -> None:
    span = 4800.0
    timeline = recorded(seconds, span)
    bins = values(timeline)
    assert len(bins) <= MOST_BINS
    assert timeline.step <= span / MOST_BINS
    end = timeline.start + len(bins) * timeline.step
    assert end - timeline.step <= seconds <= end + timeline.step
    assert end - timeline.start >= min(seconds - 1, span - timeline.step)
    for place, value in enumerate(bins[1:-1], 1):
        middle = timeline.start + (place + 0.5) * timeline.step - 0.5
        assert value == pytest.approx(middle, abs=0.01)


def test_the_present_bin_is_shown_where_bins_are_long() -> None:
    timeline = recorded(1301, 4800)
    assert timeline.step > 1
    timeline.record(1301.5, (1e6,))
    assert (values(timeline)[-1] or 0) > 1e5
