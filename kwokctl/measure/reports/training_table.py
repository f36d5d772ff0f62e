"""The trainings of a run as a table of its page. Pure."""

from kwokctl.measure.figures.figure import RunView
from kwokctl.measure.figures.training import Training, trainings_in
from kwokctl.measure.pages.page_data import TableColumn, TableItem
from kwokctl.measure.reports.words import number

_MOST = 200
"""Rows."""
_HEADINGS = ("training", "phase", "steps", "starts", "stops", "steps lost", "goodput", "ETTR")


def training_table(view: RunView) -> TableItem | None:
    """Return a row for each training, those with the most lost steps first; None without any."""
    found = sorted(view.once(trainings_in), key=lambda each: -each.state.lost)
    if not found:
        return None
    left_out = len(found) - _MOST
    return TableItem(
        id="table-trainings",
        title="Trainings",
        note=f"{left_out:,} more have lost no more steps than these" if left_out > 0 else "",
        columns=[
            TableColumn(title=each, align="right" if place > 1 else "left")
            for place, each in enumerate(_HEADINGS)
        ],
        rows=[_row(each) for each in found[:_MOST]],
    )


def _row(training: Training) -> tuple[str, ...]:
    state = training.state
    return (
        training.name,
        state.phase,
        f"{state.counted:,} of {state.plan.steps:,}",
        f"{state.attempt:,}",
        f"{state.stops:,}",
        f"{state.lost:,}",
        _share(training.useful, training.wall),
        _share(training.productive, training.wall),
    )


def _share(part: float, whole: float) -> str:
    return number(100 * part / whole, "%") if whole else "-"
