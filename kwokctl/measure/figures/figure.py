"""The form of a figure, and the part of a history that it is computed from."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar

import msgspec

from kwokctl.measure.figures.fleet_replay import FleetReplay
from kwokctl.measure.figures.values import Missing, Value
from kwokctl.measure.histories.history import Gaps, History, PodHistory
from kwokctl.measure.histories.object_history import ObjectHistory
from kwokctl.measure.histories.plane_history import PlaneHistory
from kwokctl.measure.record.record_lines import Sent
from kwokctl.measure.scoring.score_words import ScoreWords
from kwokctl.measure.scoring.scorecard import Scorecard

T = TypeVar("T")
Since = Literal["due", "sent", "accepted"]
Form = Literal["number", "distribution", "series", "levels", "bounds"]
Better = Literal["less", "more", "neither"]
Basis = Literal["measured", "simulated", "inferred", ""]
"""Whether a value is what a client has seen, what was drawn for the simulation, or what follows from either; empty for figures that are not of incidents."""
METRICS = "metrics."
"""Before the name of a component: its metrics, as a part of a record."""
_UNDIRECTED = frozenset({"count", "left_out", "open"})
"""Statistics of figures that say how many there were, and not how fast it went."""
_USUAL: Mapping[Form, Better] = {"distribution": "less", "bounds": "less", "series": "more"}
_NO_GAPS = Gaps()
_SINCE = {
    "gangs": 2, "nodes": 2, "requests": 2, "interruptions": 2, "processes": 2, "clients": 2,
}  # fmt: skip
"""The versions of the record since which it has these parts."""
_PLANE_SINCE = 2
_SCORED_SINCE = 4
NO_FAULT = "no fault was open"
"""Why a run has no figures of reactions to faults."""


class RunView(msgspec.Struct, kw_only=True):
    """The part of a history that figures are computed from: all of the run, or one group of it."""

    history: History
    pods: Sequence[PodHistory]
    jobs: Sequence[ObjectHistory]
    arrivals: Sequence[Sent]
    since: Since = "due"
    """The time of an arrival from which latencies count."""
    score: ScoreWords = ScoreWords()
    """The words for how reactions to faults are judged."""
    whole: "RunView | None" = None
    """All of the run, if this is one group of it."""

    _known: dict[Any, Any] = msgspec.field(default_factory=dict)

    def once(self, compute: Callable[["RunView"], T]) -> T:
        """Return what a function computes from this part of a history; several figures need it."""
        if compute not in self._known:
            self._known[compute] = compute(self)
        found: T = self._known[compute]
        return found

    def know(self, compute: Callable[["RunView"], T], value: T) -> None:
        """Take a value for what a function computes."""
        self._known[compute] = value

    @property
    def fleet(self) -> FleetReplay:
        """The replay of what was taken and left of the nodes; the sizes are those of these pods."""
        return self.once(_fleet)

    @property
    def scorecard(self) -> Scorecard:
        """The reactions to faults, as they are judged."""
        return self.once(scorecard_of)

    @property
    def pod_gaps(self) -> Gaps:
        """The gaps in what was received of pods."""
        return self.history.gaps.get("pods", _NO_GAPS)

    @property
    def job_gaps(self) -> Gaps:
        """The gaps in what was received of Jobs."""
        return self.history.gaps.get("jobs", _NO_GAPS)

    def submitted(self, uid: str, owner_uid: str) -> int | None:
        """Return when the object of a load was submitted; None if that is not known."""
        arrival = self.history.arrival(uid, owner_uid)
        if arrival is None:
            return None
        return {"due": arrival.due, "sent": arrival.sent, "accepted": arrival.accepted}[self.since]


def _fleet(view: RunView) -> FleetReplay:
    return FleetReplay(view.history, view.pods)


def scorecard_of(view: RunView) -> Scorecard:
    """Judge the reactions to faults of a run."""
    return Scorecard(view.history, view.score)


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One figure; adding one to the list of its module is all that is to be done."""

    name: str
    unit: str
    """Empty for a count."""
    title: str
    """Its meaning, in a list of figures."""
    compute: Callable[[RunView], Value]
    form: Form = "number"
    """The kind of its value, if it could be measured."""
    needs: str = ""
    """The part of the record that may be missing: `jobs`, `gangs`, `nodes`, `requests`, `interruptions`, `probes`, `loads`,
    `processes`, `clients`, `incidents`, or `metrics.` and the name of a component."""
    parts: str = ""
    """The kind of the parts of its value: the key of a group in an assertion, as in `components.cpu[component=etcd]`."""
    better: Better | None = None
    """The better of two values. Unless it is given: of durations the shorter, of rates the higher, of others neither."""

    basis: Basis = ""
    is_mixed: bool = False
    """Whether it adds times of a schedule to times of remediators: where the clock of the schedule is faster, the sum means nothing."""
    needs_end: bool = False
    """Whether it is computed by a replay of the whole run, for which nothing can wait."""

    @property
    def direction(self) -> Better:
        """The better one of two values."""
        return self.better or _USUAL.get(self.form, "neither")

    def direction_of(self, statistic: str) -> Better:
        """Return the better one of two values of a statistic."""
        return "neither" if statistic in _UNDIRECTED else self.direction

    def value(self, view: RunView) -> Value:
        """Return the value, or why there is none."""
        if why := missing(view, self.needs):
            return Missing(why)
        if self.is_mixed and view.scorecard.scaled_by is not None:
            return Missing(
                "the clock of the schedule is faster than that of those who react: such a sum means nothing"
            )
        return self.compute(view)


def missing(view: RunView, part: str) -> str:
    """Return why a part of the record is not there; empty if it is."""
    if not part:
        return ""
    if why := view.history.header.missing.get(part):
        return why
    if (version := view.history.header.version) < _SINCE.get(part, 1):
        return f"a record of version {version} has no {part}"
    if part == "loads" and not view.history.arrivals:
        return "there was no load"
    if part == "probes" and not view.history.probes:
        return "the API server was not probed"
    return (
        _missing_of_faults(view) if part == "incidents" else _missing_of_plane(view.history, part)
    )


def _missing_of_faults(view: RunView) -> str:
    """Return why reactions to faults cannot be judged; empty if they can."""
    history = view.history
    for kind in ("faults", "nodes"):
        if why := history.header.missing.get(kind):
            return why
    if (
        history.faults.faults
        and not history.incidents.truths
        and history.header.version < _SCORED_SINCE
    ):
        return f"a record of version {history.header.version} does not say what faults have hit"
    return "" if view.scorecard.incidents else NO_FAULT


def _missing_of_plane(history: History, part: str) -> str:
    """Return why the control plane was not sampled; empty if it was, or for a part of another kind."""
    is_metrics = part.startswith(METRICS)
    if not is_metrics and part not in ("processes", "clients"):
        return ""
    if history.header.version < _PLANE_SINCE:
        return f"a record of version {history.header.version} has no metrics of components"
    if why := history.header.missing.get("control plane"):
        return why
    if part == "processes" and not history.plane.spent:
        return "no component was seen"
    return _unsampled(history.plane, part.removeprefix(METRICS)) if is_metrics else ""


def _unsampled(plane: PlaneHistory, component: str) -> str:
    if len(plane.whole(component)) < 2:
        return f"{component} did not show its metrics in the end"
    if plane.has_several(component):
        return f"several processes of {component} have answered in turn"
    return ""
