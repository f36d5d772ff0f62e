"""What decides about the times of incidents, and about what they cost."""

from kwokctl.measure.figures import incident_values
from kwokctl.measure.scoring import bound_pods, lost_capacity
from kwokctl.measure.scoring.find_incidents import _Teller
from kwokctl.measure.scoring.incident import Incident
from kwokctl.measure.scoring.node_timeline import NodeTimeline
from kwokctl.measure.scoring.reactions_seen import _alone, _repairs
from kwokctl.measure.scoring.scorecard import Scorecard
from tests.support.mutants.mutant import Mutant

MUTANTS = (
    # What keeps pods away, and when a node is back.
    Mutant(NodeTimeline.is_kept_away, "state.cordoned or ", ""),
    Mutant(NodeTimeline.is_barrier, "taint.endswith(_HARD) and ", ""),
    Mutant(NodeTimeline.is_barrier, " and taint not in self._usual", ""),
    Mutant(NodeTimeline.is_barrier, "is_hard and not taint.startswith(_OF_KUBERNETES)", "is_hard"),
    Mutant(NodeTimeline.is_back, "not state.ready or ", ""),
    Mutant(NodeTimeline.is_back, " or self.is_kept_away(state)", ""),
    Mutant(NodeTimeline.is_back, ">= self.devices", ">= 0"),
    Mutant(NodeTimeline.kept_away, "number > 0", "True"),
    # The times of an incident.
    Mutant(_Teller.told, "each.begins and ", ""),
    Mutant(_Teller.told, "found.began <= each.time <= limit", "found.began <= each.time"),
    Mutant(_Teller.told, "None if kept else", ""),
    Mutant(_Teller.told, "max(fixed, cordoned or fixed)", "fixed"),
    Mutant(_Teller._limit, "min(limit, following - 1)", "limit"),
    Mutant(_Teller._limit, " and fixed <= following", ""),
    Mutant(_Teller._fixed, "each.node == found.node and ", ""),
    Mutant(_Teller._fixed, " and found.fault in each.cleared", ""),
    Mutant(_Teller._fixed, "ends.append(gone)", "pass"),
    Mutant(_Teller._signals, "{*marks} - had", "{*marks}"),
    Mutant(_Teller._signals, "is_fewer or ", ""),
    Mutant(
        _Teller._drained,
        "None if empty is None or (end is not None and empty > end) else empty",
        "empty",
    ),
    Mutant(_Teller._repairs, "each.node == found.node and each.accepted", "each.accepted"),
    Mutant(_Teller._phases, "and not (before and before[-1])", ""),
    Mutant(
        _Teller._phases,
        "if line.holds and began",
        "if began",
        "that it holds no longer comes only after that it holds",
    ),
    Mutant(Incident.is_repaired, "end is None or ", ""),
    Mutant(Incident.is_open, "self.began <= time and ", ""),
    Mutant(bound_pods.BoundPods.empty_after, "not is_taken and ", ""),
    Mutant(bound_pods.BoundPods.empty_after, " and not _at(others, moment)", ""),
    Mutant(bound_pods._workload, "job.owner_uid or job.uid", "job.uid"),
    # What reactions are right, and what they cost.
    Mutant(_alone, "is_inside or ", ""),
    Mutant(_repairs, "each.trigger in _ASKED and ", ""),
    Mutant(Scorecard.is_about, "not each.is_benign and ", ""),
    Mutant(Scorecard.is_about, "0 <= episode.begin", "-1e18 <= episode.begin"),
    Mutant(Scorecard.is_about, " <= self.words.within", " <= 1e18"),
    Mutant(Scorecard.kept_away_for_nothing, "if not each.is_benign", ""),
    Mutant(Scorecard.bad_placements, "if each.severity == FATAL", "if True"),
    Mutant(Scorecard.bad_placements, " and _is_shown(each, time)", ""),
    Mutant(Scorecard._unhurt, " and (each.back is None or time <= each.back)", ""),
    Mutant(Scorecard._unhurt, "max(len(first.gpus), 1)", "1"),
    Mutant(Scorecard.breaches, "count > limit", "count >= limit"),
    Mutant(lost_capacity._cause, "and not each.is_benign", ""),
    Mutant(lost_capacity._hit, "if any(not each.gpus for each in incidents)", "if False"),
    Mutant(lost_capacity._hit, "if any(not each.gpus for each in incidents)", "if True"),
    Mutant(incident_values.recall, "if not each.is_benign", ""),
    Mutant(incident_values.mttr, " and not each.is_benign", ""),
    Mutant(incident_values.flapping, "each.cordons - 1", "each.cordons"),
    Mutant(incident_values.signal_delay, "if not each.is_shown_inferred", ""),
    Mutant(incident_values.repair_yield, "if repair.phase in _DONE", "if True"),
)
