"""Figures of reactions to faults: how soon each was noticed, cordoned, drained, repaired and over, and what that cost.

The availability is that of Barlow and Proschan, MTBF / (MTBF + MTTR).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from kwokctl.kube.resource import POD_DISRUPTION_BUDGETS
from kwokctl.measure.figures import incident_values as of
from kwokctl.measure.figures.figure import Figure, RunView, missing, scorecard_of
from kwokctl.measure.figures.levels import after_steps, levels
from kwokctl.measure.figures.values import Missing, SingleNumber, Value, distribution
from kwokctl.measure.record.run_clock import SECOND
from kwokctl.measure.scoring.incident import Incident
from kwokctl.measure.scoring.lost_capacity import lost_by_cause, whole_capacity

PREFIX = "incidents."
_NEEDS = "incidents"


def _span(begin: str, end: str, view: RunView) -> Value:
    return of.span_of(view.scorecard.incidents, begin, end)


def _of_incidents(compute: Callable[[Sequence[Incident]], Value], view: RunView) -> Value:
    return compute(view.scorecard.incidents)


def _precision(view: RunView) -> Value:
    card = view.scorecard
    right = sum(map(card.is_about, card.episodes))
    if not card.episodes:
        return Missing("no client has acted")
    wrong = len(card.episodes) - right
    return of.share_of(right, len(card.episodes), {"without a fault": wrong})


def _over_cordon(view: RunView) -> Value:
    wrong, whole = view.scorecard.kept_away_for_nothing()
    if not whole:
        return Missing("no node was cordoned")
    return of.share_of(wrong, whole, {"seconds": round(wrong / SECOND)})


def _lost_capacity(view: RunView) -> Value:
    card, end = view.scorecard, view.history.end
    lost = lost_by_cause(card.nodes, card.every, card.begin, end)
    whole = whole_capacity(card.nodes, card.begin, end)
    has_devices = any(node.devices for node in card.nodes.values())
    unit = "GPU" if has_devices else "node"
    detail = {f"{unit}-seconds {cause}": round(each / SECOND) for cause, each in lost.items()}
    return of.share_of(sum(lost.values()), whole, detail)


def _bad_placements(view: RunView) -> Value:
    bad, _ = view.scorecard.bad_placements()
    return SingleNumber(sum(bad.values()), detail=of.largest_first(bad))


def _repeat_offenders(view: RunView) -> Value:
    _, again = view.scorecard.bad_placements()
    return SingleNumber(sum(again.values()), detail=of.largest_first(again))


def _collateral(view: RunView) -> Value:
    found = view.scorecard.collateral()
    return SingleNumber(sum(found.values()), detail=of.largest_first(found))


def _unavailable(view: RunView) -> Value:
    card = view.scorecard
    return levels(after_steps(card.unavailable_steps()), card.begin, view.history.end)


def _backlog(view: RunView) -> Value:
    card = view.scorecard
    steps = ((max(time, 0), step) for time, step in of.backlog_steps(card.incidents))
    return levels(after_steps(steps), card.begin, view.history.end)


def _breach(place: int, view: RunView) -> Value:
    found = view.scorecard.breaches()
    if found is None:
        return Missing("no budget was given: --budget")
    return SingleNumber(found[place] if place else found[place] / SECOND)


def _node_time(view: RunView) -> float:
    card = view.scorecard
    return len(card.nodes) * (view.history.end - card.begin) / SECOND


def _mtbf(view: RunView) -> Value:
    known = [each for each in view.scorecard.incidents if not each.is_benign]
    if not known:
        return Missing("all faults were benign")
    return SingleNumber(_node_time(view) / len(known), note="of one node")


def _availability(view: RunView) -> Value:
    between, to_repair = _mtbf(view), of.mttr(view.scorecard.incidents)
    if not isinstance(between, SingleNumber):
        return between
    if not isinstance(to_repair, SingleNumber):
        return to_repair
    return SingleNumber(100 * between.value / (between.value + to_repair.value))


def _suppressed(view: RunView) -> Value:
    if not view.history.incidents.schedules:
        return Missing("no schedule was played")
    found = view.scorecard.suppressed
    note = f"of {view.scorecard.planned:,} planned"
    return SingleNumber(sum(found.values()), detail=of.largest_first(found), note=note)


def _acts(view: RunView) -> Value:
    found = Counter(f"{each.what} by {each.author}" for each in view.scorecard.acts)
    return SingleNumber(sum(found.values()), detail=of.largest_first(found))


def _refused_evictions(view: RunView) -> Value:
    return _by_user(view, view.scorecard.refused_evictions)


def _past_budgets(view: RunView) -> Value:
    if why := missing(view, POD_DISRUPTION_BUDGETS.plural):
        return Missing(why)
    return _by_user(view, view.scorecard.past_budgets)


def _by_user(view: RunView, found: Mapping[str, int]) -> Value:
    """Return counts by user, which only an audit log knows."""
    if why := missing(view, "clients"):
        return Missing(why)
    note = "as far as the audit policy has them"
    return SingleNumber(sum(found.values()), detail=of.largest_first(found), note=note)


def _lag(view: RunView) -> Value:
    return distribution(view.history.incidents.lags, what="the recorder could not probe its watch")


def _times(name: str, title: str, begin: str, end: str, **more: Any) -> Figure:
    compute = partial(_span, begin, end)
    return _figure(name, title, compute, unit="s", form="distribution", **more)


def _figure(name: str, title: str, compute: Callable[[RunView], Value], **more: Any) -> Figure:
    usual = {"unit": "", "needs": _NEEDS, "basis": "measured", "better": "less"}
    return Figure(name=f"{PREFIX}{name}", title=title, compute=compute, **{**usual, **more})


FIGURES = (
    _figure("count", "faults on nodes; those that follow from one belong to it", partial(_of_incidents, of.count_of),
            basis="simulated", better="neither"),
    _figure("open", "faults after which the node is not back", partial(_of_incidents, of.open_of), better="neither"),
    _figure("signal_delay", "from a fault to the first signal of it on the node", partial(_of_incidents, of.signal_delay),
            unit="s", form="distribution"),
    _times("to_detect", "from the first signal to the first reaction of a client", "shown", "acted"),
    _times("to_act", "from a fault to the first reaction of a client", "began", "acted"),
    _times("to_cordon", "from a fault until pods are kept away", "began", "cordoned"),
    _times("to_drain", "from then until no pod is left that a drain removes", "cordoned", "drained"),
    _times("to_accept", "from a fault until a repair is accepted", "began", "accepted"),
    _times("to_repair", "from then until the hardware is good", "accepted", "fixed", basis="simulated"),
    _times("to_return", "from a fault until the node is back as a whole", "began", "back", is_mixed=True),
    _figure("outside_repair", "the part of that in which no repair was under way", partial(_of_incidents, of.to_fix_outside),
            unit="s", form="distribution", is_mixed=True),
    _figure("absorbed", "from the first fault until all nodes are back", partial(_of_incidents, of.absorbed), unit="s", is_mixed=True),
    _figure("backlog", "nodes with a fault that are not back", _backlog, form="levels"),
    _figure("mttr", "mean time from a fault until the node is back", partial(_of_incidents, of.mttr), unit="s", is_mixed=True),
    _figure("mtbf", "mean time between faults", _mtbf, unit="s", basis="simulated", better="neither", is_mixed=True),
    _figure("availability", "MTBF / (MTBF + MTTR)", _availability, unit="%", basis="inferred", better="more", is_mixed=True),
    _figure("recall", "faults, but for benign ones, that a client has reacted to", partial(_of_incidents, of.recall), unit="%",
            better="more"),
    _figure("precision", "reactions that such a fault explains", _precision, unit="%", better="more"),
    _figure("over_cordon", "of the time in which nodes were cordoned, that without such a fault", _over_cordon, unit="%",
            is_mixed=True),
    _figure("lost_capacity", "capacity that faults and reactions cost", _lost_capacity, unit="%", is_mixed=True),
    _figure("bad_placements", "pods bound to a node that shows a fatal fault", _bad_placements),
    _figure("repeat_offenders", "of these, those whose workload was on that node before", _repeat_offenders),
    _figure("collateral", "pods evicted that no fault had hurt", _collateral, basis="inferred"),
    _figure("flapping", "nodes cordoned again for one fault", partial(_of_incidents, of.flapping)),
    _figure("unavailable", "nodes that were not Ready, cordoned or gone", _unavailable, form="levels"),
    _figure("budget_exceeded", "time with more such nodes than the budget allows", partial(_breach, 0), unit="s"),
    _figure("acts_beyond_budget", "nodes cordoned in that time", partial(_breach, 1)),
    _figure("repair_yield", "repairs that have ended the fault", partial(_of_incidents, of.repair_yield), unit="%",
            basis="simulated", better="more"),
    _figure("escalations", "further repairs of a fault", partial(_of_incidents, of.escalations), form="distribution"),
    _figure("acts", "acts on nodes, by who has done what", _acts, better="neither"),
    _figure("refused_evictions", "evictions that PodDisruptionBudgets have refused, by user", _refused_evictions),
    _figure("past_budgets", "pods of PodDisruptionBudgets deleted without an eviction, by user", _past_budgets, basis="inferred"),
    _figure("suppressed", "faults of schedules that were not injected", _suppressed, basis="simulated", better="neither"),
    _figure("watch_lag", "from the change of an object to its receipt by the recorder", _lag, unit="s", form="distribution"),
)  # fmt: skip


def figures_of_phases(texts: Iterable[str]) -> Sequence[Figure]:
    """Return a figure for each phase of the user, in their order: `NAME=CEL`."""
    return tuple(
        _figure(
            f"phase.{(name := text.partition('=')[0])}",
            f"from a fault until {text.partition('=')[2]}",
            partial(_phase, name),
            unit="s",
            form="distribution",
        )
        for text in texts
    )


def _phase(name: str, view: RunView) -> Value:
    if why := view.history.header.missing.get(f"phase.{name}"):
        return Missing(why)
    return of.phase_of(name, view.scorecard.incidents)


OF_INCIDENTS = tuple(
    each
    for each in FIGURES
    if isinstance(each.compute, partial) and each.compute.func in (_span, _of_incidents)
)
"""Those that are computed of the incidents alone, and so for groups of them, too."""


def with_incidents(view: RunView, chosen: Sequence[Incident]) -> RunView:
    """Return a run of which only these incidents count."""
    part = RunView(
        history=view.history,
        pods=view.pods,
        jobs=view.jobs,
        arrivals=view.arrivals,
        score=view.score,
        whole=view,
    )
    part.know(scorecard_of, view.scorecard.only(chosen))
    return part
