"""The incidents of a run as rows: what was done about each fault on each node, and when. Pure."""

from collections.abc import Sequence

import msgspec

from kwokctl.expr.duration import format_time
from kwokctl.measure.pages.page_data import TableColumn, TableItem
from kwokctl.measure.record.run_clock import SECOND
from kwokctl.measure.reports.words import number
from kwokctl.measure.scoring.incident import Incident
from kwokctl.measure.scoring.reactions_seen import author_of
from kwokctl.measure.scoring.scorecard import Scorecard

MOST_INCIDENTS = 1000
"""Rows of the table on a page."""
TIMES = ("shown", "acted", "cordoned", "drained", "accepted", "fixed", "back")
"""The times of an incident after its beginning, in the order of a usual one."""
HEADINGS = ("fault", "class", "node", "at", *TIMES, "by")


class IncidentRow(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One incident; times are seconds after its beginning, None for what has not happened."""

    fault: str
    class_name: str = msgspec.field(name="class")
    severity: str
    node: str
    gpus: tuple[int, ...]
    began: float
    """Seconds from the beginning of the record; negative if it began before."""
    wall: str
    """The time of day of that; empty if it is not known."""
    signals: dict[str, float]
    """By dialect."""
    shown: float | None
    shown_inferred: bool
    acted: float | None
    act: str
    by: str
    user: str
    """The user who has acted, by the audit log; empty if that is not known."""
    cordoned: float | None
    was_cordoned: bool
    drained: float | None
    accepted: float | None
    fixed: float | None
    back: float | None
    phases: dict[str, float]
    """By the name of a phase of the user."""
    cordons: int
    repairs: tuple[str, ...]
    """The actions of the repairs, in the order in which they were accepted."""


def incident_rows(card: Scorecard) -> list[IncidentRow]:
    """Return the incidents that count."""
    return [_row(card, each) for each in card.incidents]


def _row(card: Scorecard, each: Incident) -> IncidentRow:
    def after(time: int | None) -> float | None:
        return None if time is None else (time - each.began) / SECOND

    wall = card.history.incidents.wall_of(each.began)
    return IncidentRow(
        fault=each.fault,
        class_name=each.fault_class,
        severity=each.severity,
        node=each.node,
        gpus=each.gpus,
        began=each.began / SECOND,
        wall=format_time(wall / SECOND, nanos=True) if wall else "",
        signals={name: (time - each.began) / SECOND for name, time in each.signals.items()},
        shown=after(each.shown),
        shown_inferred=each.is_shown_inferred,
        acted=after(each.acted),
        act=each.act,
        by=each.actor,
        user=each.user,
        cordoned=after(each.cordoned),
        was_cordoned=each.was_cordoned,
        drained=after(each.drained),
        accepted=after(each.accepted),
        fixed=after(each.fixed),
        back=after(each.back),
        phases={name: (time - each.began) / SECOND for name, time in each.phases.items()},
        cordons=each.cordons,
        repairs=tuple(repair.action for repair in each.repairs),
    )


def cells_of(row: IncidentRow) -> tuple[str, ...]:
    """Return the cells of a row, below `HEADINGS`."""
    times = (getattr(row, name) for name in TIMES)
    shown = ("-" if each is None else number(each, "s") for each in times)
    by = author_of(row.by, row.user)
    return (row.fault, row.class_name, row.node, number(row.began, "s"), *shown, by or "-")


def incident_table(rows: Sequence[IncidentRow]) -> TableItem | None:
    """Return the incidents as a table of a page; None without any."""
    if not rows:
        return None
    left_out = len(rows) - MOST_INCIDENTS
    note = "times are those after the fault began"
    if left_out > 0:
        note += f"; {left_out:,} more: kwokctl fault score -o json"
    last = len(HEADINGS) - 1
    columns = [
        TableColumn(title=each, align="left" if place in (0, 1, 2, last) else "right")
        for place, each in enumerate(HEADINGS)
    ]
    return TableItem(
        id="table-incidents",
        title="Incidents",
        note=note,
        columns=columns,
        rows=[cells_of(each) for each in rows[:MOST_INCIDENTS]],
    )
