"""Equal bins over the time of a run, and values that are put into them. Pure."""

from collections.abc import Iterator, Sequence
from math import ceil

import msgspec

from kwokctl.measure.figures.values import Levels, Series

MOST_BINS = 600
_STEPS = [step * 10**power for power in range(7) for step in (1, 2, 5)]
"""The lengths of bins in seconds."""


class TimeGrid(msgspec.Struct, frozen=True):
    """Bins of equal length, in seconds since the run began."""

    start: float
    step: float
    count: int

    @property
    def end(self) -> float:
        """The end of the last bin."""
        return self.start + self.step * self.count


def whole_seconds(seconds: float, most: int = MOST_BINS) -> TimeGrid:
    """Return bins of whole seconds over a run that took so long: as short as `most` bins allow."""
    step = next((step for step in _STEPS if step * most >= seconds), _STEPS[-1])
    return TimeGrid(0.0, float(step), max(1, ceil(seconds / step)))


def grid_of(levels: Sequence[Levels]) -> TimeGrid:
    """Return bins for levels: their own, if they are alike, else the longest of theirs over all of them."""
    step = max(each.step for each in levels)
    start = min(each.start for each in levels)
    end = max(each.start + each.step * len(each.values) for each in levels)
    return TimeGrid(start, step, min(MOST_BINS, max(1, ceil((end - start) / step - 1e-6))))


def in_bins(level: Levels, grid: TimeGrid) -> list[float | None]:
    """Return a level in the bins of a grid: its own values where the bins are the same, else means by time."""
    if (level.start, level.step) == (grid.start, grid.step):
        own: list[float | None] = [*level.values[: grid.count]]
        return own + [None] * (grid.count - len(own))
    sums, widths = [0.0] * grid.count, [0.0] * grid.count
    for place, value in enumerate(level.values):
        begin = level.start + place * level.step
        for bin_number, width in _overlaps(begin, begin + level.step, grid):
            sums[bin_number] += value * width
            widths[bin_number] += width
    return [
        float(f"{total / width:.6g}") if width else None
        for total, width in zip(sums, widths, strict=True)
    ]


def rates_in_bins(series: Series, grid: TimeGrid) -> list[float | None]:
    """Return how often something happened a second in each bin; outside of the series it never did."""
    sums = [0] * grid.count
    for place, number in enumerate(series.values):
        bin_number = int((series.start + place - grid.start) // grid.step)
        sums[min(max(bin_number, 0), grid.count - 1)] += number
    return [total / grid.step for total in sums]


def _overlaps(begin: float, end: float, grid: TimeGrid) -> Iterator[tuple[int, float]]:
    """Yield the bins that a time is in, and how much of it is in each."""
    place = max(0, int((begin - grid.start) // grid.step))
    while place < grid.count:
        from_, to = grid.start + place * grid.step, grid.start + (place + 1) * grid.step
        width = min(end, to) - max(begin, from_)
        if from_ >= end:
            return
        if width > 0:
            yield place, width
        place += 1
