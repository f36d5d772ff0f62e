"""The values of figures as items of a page: the numbers are those of the report. Pure."""

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence

from kwokctl.measure.figures.values import CLASS_BOUNDS, Durations, Levels, Series
from kwokctl.measure.pages.grid import TimeGrid, grid_of, in_bins, rates_in_bins
from kwokctl.measure.pages.page_data import BarMark, BarsItem, BarValues, LinesItem, LineValues
from kwokctl.replacing import replace

MOST_LINES = 12
"""Lines of one chart."""
_MARKS = ("p50", "p90", "p99", "max")
_OTHER = re.compile(r"[^a-z0-9]+")


def item_id(name: str) -> str:
    """Return the id of an item from the name of a figure: `pods.created_to_bound` is `pods-created-to-bound`."""
    return _OTHER.sub("-", name.lower()).strip("-")


def rates_item(
    name: str, title: str, series: Mapping[str, Series], grid: TimeGrid
) -> LinesItem | None:
    """Return a chart of rates, each by its name in the chart; None without any."""
    if not series:
        return None
    lines = [LineValues(name=key, values=rates_in_bins(each, grid)) for key, each in series.items()]
    return _lines(name, title, "/s", grid, lines)


def levels_item(
    name: str,
    title: str,
    unit: str,
    levels: Mapping[str, Levels],
    *,
    stacked: bool = False,
    note: str = "",
) -> LinesItem | None:
    """Return a chart of levels, each by its name in the chart, at most `MOST_LINES`; None without any."""
    chosen = dict(sorted(levels.items(), key=lambda item: -item[1].mean)[:MOST_LINES])
    if not chosen:
        return None
    left_out = len(levels) - len(chosen)
    notes = [note, f"{left_out:,} smaller ones are left out" if left_out else ""]
    grid = grid_of([*chosen.values()])
    lines = [
        LineValues(name=key, values=in_bins(levels[key], grid)) for key in levels if key in chosen
    ]
    item = _lines(name, title, unit, grid, lines)
    return replace(item, stacked=stacked, note="; ".join(filter(None, notes)))


def _lines(
    name: str, title: str, unit: str, grid: TimeGrid, lines: Sequence[LineValues]
) -> LinesItem:
    return LinesItem(
        id=item_id(name),
        title=title,
        unit=unit,
        start=grid.start,
        step=grid.step,
        count=grid.count,
        series=lines,
    )


def distribution_item(name: str, title: str, unit: str, value: Durations) -> BarsItem:
    """Return a distribution: its classes are those of the report, with the empty ones between them."""
    counts = dict(value.histogram)
    bounds = [*counts]
    inside = [each for each in CLASS_BOUNDS if bounds[0] <= each <= bounds[-1]]
    edges = sorted({*inside, *bounds})
    place = bisect_left(CLASS_BOUNDS, bounds[0])
    below = CLASS_BOUNDS[place - 1] if place else 0.0
    marks = [BarMark(name=each, at=getattr(value, each)) for each in _MARKS]
    return BarsItem(
        id=item_id(name),
        title=title,
        note=name,
        unit=unit,
        edges=[below, *edges],
        series=[BarValues(name=name, values=[counts.get(edge, 0) for edge in edges])],
        marks=marks,
    )
