"""Values that are computed from incidents, all of them or those of one class. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kwokctl.measure.figures.values import (
    Missing,
    SingleNumber,
    Value,
    distribution,
    distribution_of,
)
from kwokctl.measure.record.run_clock import SECOND
from kwokctl.measure.scoring.incident import Incident

_DONE = ("Succeeded", "Failed")


def span_of(incidents: Iterable[Incident], begin: str, end: str) -> Value:
    """Return the distribution of the durations between two times of incidents; those without the second are open."""
    durations, still_open = [], 0
    for each in incidents:
        first, last = getattr(each, begin), getattr(each, end)
        if first is None:
            continue
        if last is None:
            still_open += 1
        else:
            durations.append(last - first)
    return distribution(durations, still_open=still_open, what="it never happened")


def phase_of(name: str, incidents: Sequence[Incident]) -> Value:
    """Return how long after their beginnings a phase of incidents was over."""
    known = [each.phases[name] - each.began for each in incidents if name in each.phases]
    still_open = len(incidents) - len(known)
    return distribution(known, still_open=still_open, what="it never held after a fault")


def to_fix_outside(incidents: Iterable[Incident]) -> Value:
    """Return how long incidents took without the time in which they were in repair."""
    durations = [
        each.back - each.began - each.repair_time for each in incidents if each.back is not None
    ]
    return distribution(durations, what="no node came back")


def signal_delay(incidents: Sequence[Incident]) -> Value:
    """Return how soon the first signal was seen; incidents of which nodes show nothing are left out."""
    seen = [each for each in incidents if not each.is_shown_inferred]
    found = span_of(seen, "began", "shown")
    return found if seen else Missing("no node has shown a fault")


def count_of(incidents: Sequence[Incident]) -> Value:
    """Return their number, by class."""
    return SingleNumber(len(incidents), detail=_by_class(incidents))


def open_of(incidents: Sequence[Incident]) -> Value:
    """Return the number of those after which the node is not back, by class."""
    left = [each for each in incidents if each.back is None]
    return SingleNumber(len(left), detail=_by_class(left))


def recall(incidents: Sequence[Incident]) -> Value:
    """Return the percentage of incidents, but for benign ones, that a client has reacted to."""
    known = [each for each in incidents if not each.is_benign]
    missed = [each for each in known if not each.is_noticed]
    if not known:
        return Missing("all faults were benign")
    return share_of(len(known) - len(missed), len(known), {"missed": len(missed)})


def flapping(incidents: Sequence[Incident]) -> Value:
    """Return how often nodes were cordoned again for one incident."""
    again = {each.node: each.cordons - 1 for each in incidents if each.cordons > 1}
    return SingleNumber(sum(again.values()), detail=largest_first(again))


def repair_yield(incidents: Sequence[Incident]) -> Value:
    """Return the percentage of repairs, of those that have ended, that have ended the fault."""
    ended = [
        each.fault in repair.cleared
        for each in incidents
        for repair in each.repairs
        if repair.phase in _DONE
    ]
    if not ended:
        return Missing("no repair has ended")
    return share_of(sum(ended), len(ended), {"in vain": len(ended) - sum(ended)})


def escalations(incidents: Sequence[Incident]) -> Value:
    """Return the distribution of the further repairs of those incidents that had one."""
    more = [len(each.repairs) - 1 for each in incidents if each.repairs]
    return distribution_of(more, what="there was no repair")


def absorbed(incidents: Sequence[Incident]) -> Value:
    """Return how long it took from the first fault until all nodes were back."""
    left = sum(each.back is None for each in incidents)
    if left:
        return Missing(f"of {len(incidents):,} nodes {left:,} are not back")
    last = max(each.back for each in incidents if each.back is not None)
    return SingleNumber((last - min(each.began for each in incidents)) / SECOND)


def backlog_steps(incidents: Iterable[Incident]) -> Iterator[tuple[int, int]]:
    """Yield when a node began to wait until it is back, and when that was over."""
    for each in incidents:
        yield each.began, 1
        if each.back is not None:
            yield each.back, -1


def mttr(incidents: Sequence[Incident]) -> Value:
    """Return the mean time from the beginning of an incident until the node is back."""
    known = [
        each.back - each.began for each in incidents if each.back is not None and not each.is_benign
    ]
    if not known:
        return Missing("no node came back")
    open_ones = sum(each.back is None for each in incidents if not each.is_benign)
    return SingleNumber(sum(known) / len(known) / SECOND, detail={"open": open_ones})


def share_of(part: float, whole: float, detail: dict[str, int]) -> Value:
    """Return a percentage with its parts."""
    return SingleNumber(100 * part / whole, detail=detail)


def _by_class(incidents: Sequence[Incident]) -> dict[str, int]:
    return largest_first(Counter(each.fault_class for each in incidents))


def largest_first(counts: Mapping[str, int]) -> dict[str, int]:
    """Return counts, the largest first."""
    return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))
