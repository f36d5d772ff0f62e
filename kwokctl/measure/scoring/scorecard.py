"""All that is judged of a run: its incidents, and what was kept away from pods though it was good. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy

from kwokctl.measure.histories.history import History
from kwokctl.measure.record.incident_lines import DELETE_POD
from kwokctl.measure.scoring.authors import Authors
from kwokctl.measure.scoring.bound_pods import BoundPods, placements_of
from kwokctl.measure.scoring.evicted_devices import has_any_of
from kwokctl.measure.scoring.find_incidents import ScoredRun, incidents_in
from kwokctl.measure.scoring.incident import FATAL, OF_DEVICES, Incident
from kwokctl.measure.scoring.node_timeline import NodeTimeline, timelines_of
from kwokctl.measure.scoring.reactions_seen import (
    KeptAway,
    SeenAct,
    acts_in,
    episodes_in,
    evictions_in,
)
from kwokctl.measure.scoring.score_words import ScoreWords

Steps = Sequence[tuple[int, int]]
"""The times at which a number of nodes rises or falls, and by how much."""
_Eviction = tuple[int, str]
"""The time of an eviction, and the devices of the pod, as the record has them."""


class Scorecard:
    """The judgement on a record, computed once."""

    def __init__(self, history: History, words: ScoreWords | None = None) -> None:
        """Find the incidents of a record that counts as `words` say."""
        self.history = history
        self.words = words or ScoreWords()
        self.nodes: Mapping[str, NodeTimeline] = timelines_of(history)
        self._authors = Authors(history)
        self.acts: Sequence[SeenAct] = acts_in(history, self.nodes, self._authors)
        self.pods = BoundPods(history)
        run = ScoredRun(
            history=history,
            nodes=self.nodes,
            acts=self.acts,
            pods=self.pods,
            within=self.words.within,
        )
        self.every = incidents_in(run)
        """All incidents, also those before the time from which they count."""
        self._of_node: dict[str, list[Incident]] = {}
        for each in self.every:
            self._of_node.setdefault(each.node, []).append(each)
        self.incidents = [each for each in self.every if each.began >= self._since]
        faulty = frozenset(each.node for each in self.every)
        self.episodes: Sequence[KeptAway] = [
            each
            for each in episodes_in(self.nodes, [*self.acts], faulty)
            if each.was_seen and each.begin >= self._since
        ]

    def only(self, chosen: Sequence[Incident]) -> "Scorecard":
        """Return a scorecard on which only some incidents count."""
        part = copy(self)
        part.incidents = [*chosen]
        return part

    @property
    def _since(self) -> int:
        """The time from which incidents count: those of before the record do, unless the user says otherwise."""
        first = min((each.began for each in self.every), default=0)
        return self.words.since or min(first, self.history.begin)

    @property
    def begin(self) -> int:
        """The time at which the judged part of the run begins."""
        return max(self.history.begin, self.words.since)

    def of_node(self, node: str) -> Sequence[Incident]:
        """Return the incidents of a node."""
        return self._of_node.get(node, ())

    def is_about(self, episode: KeptAway) -> bool:
        """Return whether an incident explains why pods are kept away: one that is not benign, and began shortly before."""
        return any(
            not each.is_benign and 0 <= episode.begin - each.began <= self.words.within
            for each in self.of_node(episode.node)
        )

    def kept_away_for_nothing(self) -> tuple[int, int]:
        """Return how long nodes were kept away from pods outside of incidents, and in all, in nanoseconds."""
        end, wrong, whole = self.history.end, 0, 0
        for name, node in self.nodes.items():
            known = [each for each in self.of_node(name) if not each.is_benign]
            for begin, stop, _ in node.kept_away():
                first, last = max(begin, self.begin), end if stop is None else stop
                if first < last:
                    spans = [
                        (each.began, end if each.fixed is None else each.fixed) for each in known
                    ]
                    whole += last - first
                    wrong += last - first - _covered(first, last, spans)
        return wrong, whole

    def bad_placements(self) -> tuple[Mapping[str, int], Mapping[str, int]]:
        """Return how many pods were bound to nodes with a fatal fault that was shown by then, by node; and those whose workload was there before."""
        bad: Counter[str] = Counter()
        again: Counter[str] = Counter()
        fatal: dict[str, list[Incident]] = {}
        for each in self.incidents:
            if each.severity == FATAL:
                fatal.setdefault(each.node, []).append(each)
        for node, stay, is_again in placements_of(self.pods):
            time = stay.begin
            if any(each.is_open(time) and _is_shown(each, time) for each in fatal.get(node, ())):
                bad[node] += 1
                again[node] += is_again
        return bad, +again

    def collateral(self) -> Mapping[str, int]:
        """Return how many pods were evicted that no fault had hurt, by node.

        A fault of devices hurts the pods that have them. Of pods that do not say which devices they have, it is taken to hurt as many as it
        hits devices. Any other fault that is not benign hurts all pods of its node.
        """
        texts = self.history.texts
        evicted: dict[str, list[_Eviction]] = {}
        for each in evictions_in(self.history):
            if each.time >= self.begin:
                evicted.setdefault(texts[each.node], []).append((each.time, texts[each.devices]))
        found = {name: self._unhurt(name, pods) for name, pods in evicted.items()}
        return {name: count for name, count in found.items() if count}

    def _unhurt(self, name: str, evicted: Sequence[_Eviction]) -> int:
        known = [each for each in self.of_node(name) if not each.is_benign]
        good = 0
        hurt: Counter[int] = Counter()
        for time, devices in evicted:
            here = [
                each
                for each in known
                if each.began <= time and (each.back is None or time <= each.back)
            ]
            if not here:
                good += 1
            elif all(each.scope == OF_DEVICES for each in here):
                gpus = {gpu for each in here for gpu in each.gpus}
                has_one = has_any_of(devices, name, gpus)
                if has_one is None:
                    first = here[0]
                    hurt[first.number] += 1
                    good += hurt[first.number] > max(len(first.gpus), 1)
                else:
                    good += not has_one
        return good

    def unavailable_steps(self) -> list[tuple[int, int]]:
        """Return when nodes became unavailable, and available again: not there, not Ready, or kept away from pods."""
        steps: list[tuple[int, int]] = []
        for node in self.nodes.values():
            was_out = False
            for time, state in node.states:
                is_out = state is None or not state.ready or node.is_kept_away(state)
                if is_out != was_out:
                    steps.append((time, 1 if is_out else -1))
                was_out = is_out
        return sorted(steps)

    def breaches(self) -> tuple[int, int] | None:
        """Return for how long more nodes were unavailable than the budget allows, in nanoseconds, and how many nodes were cordoned meanwhile.

        None without a budget. The cordon that uses up the budget does not count, the next one does.
        """
        if self.words.budget is None:
            return None
        limit = self.words.budget.of(len(self.nodes))
        over, count, last = 0, 0, self.begin
        beyond: list[tuple[int, int]] = []
        for time, step in [*self.unavailable_steps(), (self.history.end, 0)]:
            moment = min(max(time, self.begin), self.history.end)
            if count > limit:
                over += moment - last
                beyond.append((last, moment))
            count, last = count + step, moment
        acts = sum(
            any(begin <= each.begin <= end for begin, end in beyond)
            for each in self.episodes
            if each.begin > self.begin
        )
        return over, acts

    @property
    def refused_evictions(self) -> Mapping[str, int]:
        """The number of times that budgets have refused to let a pod be evicted, by the user."""
        within = self.history.header.scope.namespace
        return Counter(
            each.user
            for each in self.history.incidents.requests
            if each.is_refused
            and each.begin >= self.begin
            and (not within or each.namespace == within)
        )

    @property
    def past_budgets(self) -> Mapping[str, int]:
        """The pods that a budget protects and that a client has deleted without an eviction, by the user.

        Kubernetes' own programs delete such pods for good reasons, as where there are fewer replicas: their requests are not recorded.
        """
        users = (
            self._authors.of(DELETE_POD, each.time, each.name, each.namespace)
            for each in self.history.incidents.guarded
            if each.time >= self.begin
        )
        return Counter(filter(None, users))

    @property
    def suppressed(self) -> Mapping[str, int]:
        """The faults of schedules that were not injected, by reason."""
        found: Counter[str] = Counter()
        for each in self.history.incidents.schedules.values():
            found.update(each.suppressed)
        return found

    @property
    def planned(self) -> int:
        """The faults of schedules, injected or not."""
        return sum(each.planned for each in self.history.incidents.schedules.values())

    @property
    def scaled_by(self) -> float | None:
        """The time scale of a schedule whose clock was not that of other programs; None if there was none."""
        scales = (each.time_scale for each in self.history.incidents.schedules.values())
        return next((each for each in scales if each != 1), None)


def _is_shown(incident: Incident, time: int) -> bool:
    return incident.shown is not None and incident.shown <= time


def _covered(first: int, last: int, spans: Sequence[tuple[int, int]]) -> int:
    """Return how much of a time lies in any of some spans."""
    total, reached = 0, first
    for begin, end in sorted(spans):
        start, stop = max(begin, reached), min(end, last)
        if start < stop:
            total += stop - start
            reached = stop
    return total
