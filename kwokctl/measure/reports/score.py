"""The scorecard of a run: how those who react to faults did. Pure."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from kwokctl.measure.figures import clients, incidents
from kwokctl.measure.figures.figure import Figure, RunView
from kwokctl.measure.figures.figure_catalogue import whole_run
from kwokctl.measure.figures.values import Missing
from kwokctl.measure.histories.history import History
from kwokctl.measure.record.run_clock import SECOND
from kwokctl.measure.reports.incident_rows import IncidentRow, incident_rows
from kwokctl.measure.reports.report import FigureReport, Figures
from kwokctl.measure.scoring.incident import Incident
from kwokctl.measure.scoring.score_words import ScoreWords
from kwokctl.measure.scoring.scorecard import Scorecard
from kwokctl.replacing import replace

FORM = "kwokctl.dev/fault-score"
VERSION = 1
BY = ("class", "dialect", "node", "severity", "schedule")
"""The keys of groups."""


class ScoreReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """All that is said of reactions to faults."""

    form: str = FORM
    version: int = VERSION
    record: str
    seconds: float
    """The length of the part of the run that is judged."""
    figures: Figures
    groups: dict[str, dict[str, Figures]]
    """By the key and the name of a group."""
    incidents: tuple[IncidentRow, ...]
    remarks: tuple[str, ...]


class ScoreRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The request of a scorecard."""

    record: str
    words: ScoreWords = ScoreWords()
    by: tuple[str, ...] = ()


def score_of(history: History, request: ScoreRequest) -> ScoreReport:
    """Judge a run."""
    view = whole_run(history, score=request.words)
    card = view.scorecard
    phases = incidents.figures_of_phases(history.header.phases)
    return ScoreReport(
        record=request.record,
        seconds=(history.end - card.begin) / SECOND,
        figures=_figures((*incidents.FIGURES, *phases, *clients.FIGURES), view),
        groups={
            key: {
                name: _figures(
                    (*incidents.OF_INCIDENTS, *phases), incidents.with_incidents(view, chosen)
                )
                for name, chosen in _groups(card, key).items()
            }
            for key in request.by
        },
        incidents=tuple(incident_rows(card)),
        remarks=tuple(remarks_on(card)),
    )


def remarks_on(card: Scorecard) -> Iterator[str]:
    """Yield what a reader must know of a run with faults."""
    if card.scaled_by is not None:
        others = sorted(
            {each.author for each in card.acts} | {"kube-controller-manager", "kube-scheduler"}
        )
        yield (
            f"the clock of a schedule was {card.scaled_by:g} times as fast as that of other programs ({', '.join(others)}): "
            "their times are real seconds, and sums of both are not given"
        )
    inferred = sum(each.is_shown_inferred for each in card.incidents)
    if inferred:
        yield f"of {inferred:,} incidents nothing is seen on the node: the time of their signals is that of the truth"


def _figures(figures: Sequence[Figure], view: RunView) -> Figures:
    found = {
        each.name: FigureReport(
            title=each.title,
            unit=each.unit,
            value=each.value(view),
            parts=each.parts,
            basis=each.basis,
        )
        for each in figures
    }
    of_clients = (each.name for each in clients.FIGURES)
    lacking = {
        name for name in of_clients if name in found and isinstance(found[name].value, Missing)
    }
    return {name: each for name, each in found.items() if name not in lacking}


def _groups(card: Scorecard, key: str) -> Mapping[str, list[Incident]]:
    """Return incidents by a key; one that several dialects show is in the group of each, with the time of its signal there."""
    found: dict[str, list[Incident]] = {}
    for each in card.incidents:
        if key == "dialect":
            for name, time in each.signals.items():
                found.setdefault(name, []).append(replace(each, shown=time))
        else:
            names = {
                "class": each.fault_class,
                "node": each.node,
                "severity": each.severity,
                "schedule": each.schedule or "none",
            }
            found.setdefault(names[key], []).append(each)
    return dict(sorted(found.items()))
