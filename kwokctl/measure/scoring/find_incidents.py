"""Finds the incidents of a record, and the times of each. Pure.

The times follow the life of an incident: injected, first signal, first act, cordoned, drained, repair accepted, hardware good, back.
Those of the truth are wall times of the controllers that inject and repair; all others those at which the recorder received a change.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from kwokctl.measure.histories.fault_history import FaultRecord
from kwokctl.measure.histories.history import History
from kwokctl.measure.record.incident_lines import FaultTruth, FaultUnitState, RepairState
from kwokctl.measure.record.run_clock import SECOND
from kwokctl.measure.scoring.bound_pods import BoundPods
from kwokctl.measure.scoring.incident import Incident
from kwokctl.measure.scoring.node_timeline import NodeTimeline, devices_of_state, shown_by
from kwokctl.measure.scoring.reactions_seen import SeenAct
from kwokctl.measure.watching.seen_faults import DEVICES
from kwokctl.replacing import replace


class ScoredRun(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a record from which incidents are found."""

    history: History
    nodes: Mapping[str, NodeTimeline]
    acts: Sequence[SeenAct]
    pods: BoundPods
    within: int
    """The time after the start of a fault in which an act on its node is about it."""


def incidents_in(run: ScoredRun) -> list[Incident]:
    """Return the incidents in the order of their beginnings."""
    found = sorted(_begun(run.history), key=lambda each: (each.began, each.fault, each.node))
    by_node: dict[str, list[Incident]] = {}
    for each in found:
        if each.node in run.nodes:
            by_node.setdefault(each.node, []).append(each)
    acts: dict[str, list[SeenAct]] = {}
    for act in run.acts:
        acts.setdefault(act.node, []).append(act)
    told = [
        _Teller(run, run.nodes[name], acts.get(name, ())).told(each, _next(each, some))
        for name, some in by_node.items()
        for each in some
    ]
    return sorted(told, key=lambda each: (each.began, each.fault, each.node))


def _begun(history: History) -> Iterator[Incident]:
    """Yield incidents with what the truth says of them; a unit that cannot show its fault is none."""
    known = history.incidents
    for number, truth in known.truths.items():
        fault = history.faults.faults[number]
        began = known.time_of(truth.injected)
        began = fault.began if began is None else began
        if began is None or began > history.end:
            continue
        by_node: dict[str, list[FaultUnitState]] = {}
        for unit in known.units.get(number, {}).values():
            if not unit.problem:
                by_node.setdefault(unit.node, []).append(unit)
        for node, units in by_node.items():
            yield _first(fault, truth, began, node, units)


def _first(
    fault: FaultRecord, truth: FaultTruth, began: int, node: str, units: Sequence[FaultUnitState]
) -> Incident:
    landed = [began + round(unit.landed * SECOND) for unit in units if unit.landed is not None]
    return Incident(
        number=truth.fault,
        fault=fault.name,
        schedule=fault.schedule,
        fault_class=fault.fault_class,
        severity=truth.severity,
        scope=truth.scope,
        node=node,
        gpus=tuple(sorted(unit.gpu for unit in units if unit.gpu is not None)),
        began=began,
        signals=dict.fromkeys(truth.marks, 0),
        shown=min(landed, default=None),
        is_shown_inferred=True,
    )


def _next(incident: Incident, of_node: Iterable[Incident]) -> int | None:
    """Return when the next incident of the node begins."""
    return next((each.began for each in of_node if each.began > incident.began), None)


class _Teller:
    """Finds the times of incidents of one node."""

    def __init__(self, run: ScoredRun, node: NodeTimeline, acts: Sequence[SeenAct]) -> None:
        self._run = run
        self._node = node
        self._acts = acts

    def told(self, found: Incident, following: int | None) -> Incident:
        """Return an incident with all of its times; `following` is when the next one of the node begins."""
        fixed = self._fixed(found)
        shown = self._signals(replace(found, fixed=fixed))
        kept = self._node.is_kept_away(self._node.at(found.began))
        limit = self._limit(found, fixed, following)
        act = next(
            (each for each in self._acts if each.begins and found.began <= each.time <= limit), None
        )
        cordoned = None if kept else self._cordoned(found.began, limit)
        back = None if fixed is None else self._back(max(fixed, cordoned or fixed))
        over = self._run.history.end if back is None else back
        repairs = tuple(self._repairs(found, max(over, limit if back is None else over)))
        return replace(
            shown,
            fixed=fixed,
            acted=act.time if act else None,
            actor=act.who if act else "",
            user=act.user if act else "",
            act=act.what if act else "",
            cordoned=cordoned,
            was_cordoned=kept,
            drained=None if cordoned is None else self._drained(cordoned),
            accepted=min((self._time(each.accepted) for each in repairs), default=None),
            back=back,
            cordons=sum(
                was_seen and found.began <= begin <= max(over, cordoned or 0)
                for begin, _, was_seen in self._node.kept_away()
            ),
            repairs=repairs,
            phases=dict(self._phases(found.began, max(over, limit))),
            repair_spans=tuple(
                (self._time(each.accepted), self._time(each.ended) if each.ended else None)
                for each in repairs
            ),
        )

    def _limit(self, found: Incident, fixed: int | None, following: int | None) -> int:
        """Return until when an act is about an incident: not after the next one, if it was over by then."""
        limit = found.began + self._run.within
        if following is not None and fixed is not None and fixed <= following:
            limit = min(limit, following - 1)
        return limit

    def _time(self, wall: int) -> int:
        return self._run.history.incidents.time_of(wall) or 0

    def _fixed(self, found: Incident) -> int | None:
        """Return when the hardware was good: the fault has ended, a repair has ended it here, or the node was replaced."""
        history = self._run.history
        known = history.incidents
        cleared = known.time_of(known.truths[found.number].cleared)
        ended = history.faults.faults[found.number].ended if cleared is None else cleared
        ends = [] if ended is None else [ended]
        ends += (
            self._time(each.ended)
            for each in known.repairs.values()
            if each.node == found.node and each.ended and found.fault in each.cleared
        )
        gone = self._node.gone_after(found.began)
        if gone is not None:
            ends.append(gone)
        return min((each for each in ends if each >= found.began), default=None)

    def _signals(self, found: Incident) -> Incident:
        """Return an incident with the times at which each dialect has shown it on the node."""
        truth = self._run.history.incidents.truths[found.number]
        before = self._node.at(found.began - 1)
        had, devices = shown_by(before), devices_of_state(before)
        end = self._run.history.end if found.fixed is None else found.fixed
        states = [each for each in self._node.since(found.began) if each[0] <= end]
        signals: dict[str, int] = {}
        for dialect, marks in truth.marks.items():
            wanted = {*marks} - had
            for time, state in states:
                is_fewer = DEVICES in wanted and devices_of_state(state) < devices
                if state is not None and (is_fewer or wanted & shown_by(state)):
                    signals[dialect] = time
                    break
        first = min(signals.values(), default=None)
        if first is None:
            return replace(found, signals={})
        return replace(found, signals=signals, shown=first, is_shown_inferred=False)

    def _cordoned(self, began: int, limit: int) -> int | None:
        return next(
            (
                begin
                for begin, _, seen in self._node.kept_away()
                if seen and began <= begin <= limit
            ),
            None,
        )

    def _drained(self, cordoned: int) -> int | None:
        """Return when no pod was left that a drain removes; None if pods may come again before that."""
        end = next(end for begin, end, _ in self._node.kept_away() if begin == cordoned)
        empty = self._run.pods.empty_after(self._node.name, cordoned)
        return None if empty is None or (end is not None and empty > end) else empty

    def _back(self, since: int) -> int | None:
        return next(
            (time for time, state in self._node.since(since) if self._node.is_back(state)), None
        )

    def _phases(self, began: int, until: int) -> Iterator[tuple[str, int]]:
        """Yield when each phase was over that was not so before."""
        history = self._run.history
        for number, text in enumerate(history.header.phases):
            lines = history.incidents.phases.get(number, {}).get(self._node.name, ())
            before = [line.holds for line in lines if line.time < began]
            times = (line.time for line in lines if line.holds and began <= line.time <= until)
            first = next(times, None)
            if first is not None and not (before and before[-1]):
                yield text.partition("=")[0], first

    def _repairs(self, found: Incident, until: int) -> Iterator[RepairState]:
        """Yield the accepted repairs of the node in the time of an incident."""
        for each in self._run.history.incidents.repairs.values():
            is_here = each.node == found.node and each.accepted
            if is_here and found.began <= self._time(each.accepted) <= until:
                yield each
