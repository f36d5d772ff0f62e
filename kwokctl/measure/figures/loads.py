"""Figures of loads: what was asked for, and what the API server made of it."""

from collections import Counter

from kwokctl.measure.figures.figure import Figure, RunView
from kwokctl.measure.figures.values import SingleNumber, Value, distribution, series
from kwokctl.measure.record.run_clock import SECOND

_LATE = SECOND // 10
"""An arrival that is sent later than this is late."""


def _arrivals(view: RunView) -> Value:
    return SingleNumber(
        len(view.arrivals), detail=dict(Counter(each.load for each in view.arrivals))
    )


def _refusals(view: RunView) -> Value:
    reasons = Counter(each.refusal for each in view.arrivals if each.refusal)
    return SingleNumber(sum(reasons.values()), detail=dict(reasons.most_common()))


def _late(view: RunView) -> Value:
    return SingleNumber(sum(each.sent - each.due > _LATE for each in view.arrivals))


def _lateness(view: RunView) -> Value:
    return distribution(max(0, each.sent - each.due) for each in view.arrivals)


def _answer(view: RunView) -> Value:
    answered = [each for each in view.arrivals if each.accepted is not None]
    durations = (each.accepted - each.sent for each in answered if each.accepted is not None)
    return distribution(
        durations, still_open=len(view.arrivals) - len(answered), what="no arrival was accepted"
    )


def _accepted(view: RunView) -> Value:
    times = (each.accepted for each in view.arrivals if each.accepted is not None)
    return series(times, view.history.begin)


FIGURES = (
    Figure(name="arrivals", unit="", title="arrivals of all loads", compute=_arrivals, needs="loads"),
    Figure(name="arrivals.late", unit="", title="arrivals that were sent more than 0.1 s after they were due",
           compute=_late, needs="loads"),
    Figure(name="arrivals.lateness", unit="s", title="from when an arrival was due until it was sent",
           compute=_lateness, form="distribution", needs="loads"),
    Figure(name="arrivals.answer", unit="s", title="from when an arrival was sent until it was accepted",
           compute=_answer, form="distribution", needs="loads"),
    Figure(name="rates.accepted", unit="/s", title="arrivals accepted a second", compute=_accepted,
           form="series", needs="loads"),
    Figure(name="refusals", unit="", title="arrivals that were refused", compute=_refusals, needs="loads"),
)  # fmt: skip
