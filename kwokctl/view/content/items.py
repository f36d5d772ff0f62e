"""Makes items of the kinds that the page knows."""

from collections.abc import Sequence

from kwokctl.measure.pages.page_data import (
    LinesItem,
    LineValues,
    TableCell,
    TableColumn,
    TableItem,
)
from kwokctl.view.state.timeline import Timeline

Cells = Sequence[str | TableCell]


def lines_item(
    timeline: Timeline, name: str, title: str, unit: str, *, note: str = "", stacked: bool = False
) -> LinesItem:
    """Return a chart."""
    bins = timeline.bins
    return LinesItem(
        id=name,
        title=title,
        note=note,
        unit=unit,
        start=timeline.start,
        step=timeline.step,
        count=len(bins),
        series=[
            LineValues(name=each, values=[values[place] for values in bins])
            for place, each in enumerate(timeline.names)
        ],
        stacked=stacked,
    )


def table_item(
    name: str, title: str, columns: Sequence[str], rows: Sequence[Cells], *, note: str = ""
) -> TableItem:
    """Return a table; columns whose title begins with `>` are of numbers."""
    return TableItem(
        id=name,
        title=title,
        note=note,
        columns=[
            TableColumn(
                title=each.removeprefix(">"), align="right" if each.startswith(">") else "left"
            )
            for each in columns
        ],
        rows=rows,
    )
