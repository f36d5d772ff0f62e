"""The report on a run: everything that its forms say. Pure."""

from collections.abc import Sequence

import msgspec

from kwokctl.measure.figures.figure import Basis, Figure, RunView, Since
from kwokctl.measure.figures.figure_catalogue import GROUPED, figures_in, groups, whole_run
from kwokctl.measure.figures.values import Value
from kwokctl.measure.histories.history import History
from kwokctl.measure.judging.assertions import Assertion, Judgement, judge
from kwokctl.measure.judging.verdict import MeasuredVerdict, verdict
from kwokctl.measure.record.run_clock import SECOND
from kwokctl.measure.scoring.score_words import ScoreWords

FORM = "kwokctl.dev/measure-report"
VERSION = 1
_DURING = ("machine during", "recorder")
"""The moments that are conditions of the run, known in its end."""


class FigureReport(msgspec.Struct, frozen=True, kw_only=True):
    """One figure."""

    title: str
    unit: str
    value: Value
    parts: str = ""
    """The kind of the parts of the value, such as `component`; empty if it has none."""
    basis: Basis = ""
    """Of a figure about faults: whether it was measured, simulated or inferred."""


Figures = dict[str, FigureReport]


class RunReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """All that is said of a run."""

    form: str = FORM
    version: int = VERSION
    wall: str
    """The time at which the record began, in UTC."""
    seconds: float
    """The length of the run, from the moment at which everything was watched."""
    kwokctl: str
    """The version that has recorded it."""
    record: str
    """The file of the record."""
    scope: dict[str, str]
    """The objects that count."""
    since: Since
    conditions: dict[str, str]
    verdict: MeasuredVerdict
    assertions: tuple[Judgement, ...]
    figures: Figures
    groups: dict[str, dict[str, Figures]]
    """By the key and the name of a group."""


class ReportRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The request of a report."""

    record: str
    since: Since = "due"
    by: tuple[str, ...] = ()
    """The keys of the groups that pods are parted into."""
    assertions: tuple[Assertion, ...] = ()
    allow_undrained: bool = False
    score: ScoreWords = ScoreWords()
    """The words for how reactions to faults are judged."""


def report_on(history: History, request: ReportRequest) -> RunReport:
    """Compute all figures of a run, and judge it."""
    header, view = history.header, whole_run(history, request.since, request.score)
    judgements = judge(request.assertions, view)
    moments = history.moments
    end = moments.get("end")
    during = {name: moments[name].detail for name in _DURING if name in moments}
    return RunReport(
        wall=header.wall,
        seconds=(end.time - history.begin) / SECOND if end else 0.0,
        kwokctl=header.kwokctl,
        record=request.record,
        scope=msgspec.to_builtins(header.scope),
        since=request.since,
        conditions={**header.conditions, **during},
        verdict=verdict(history, judgements, allow_undrained=request.allow_undrained),
        assertions=tuple(judgements),
        figures=_figures(figures_in(history), view),
        groups={
            key: {name: _figures(GROUPED, part) for name, part in groups(view, key).items()}
            for key in request.by
        },
    )


def _figures(figures: Sequence[Figure], view: RunView) -> Figures:
    return {
        each.name: FigureReport(
            title=each.title,
            unit=each.unit,
            value=each.value(view),
            parts=each.parts,
            basis=each.basis,
        )
        for each in figures
    }
