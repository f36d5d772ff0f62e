"""Pods on their nodes, and the times at which a node had none that a drain removes. Pure."""

from collections.abc import Iterator

import msgspec

from kwokctl.measure.histories.history import History, PodHistory
from kwokctl.measure.watching.other_pods import STAYING


class PodStay(msgspec.Struct, frozen=True, gc=False):
    """A pod on its node."""

    begin: int
    end: int | None
    workload: tuple[str, ...]
    """The object of which the pod is a part, however often that makes a new one."""
    was_seen: bool
    """Whether it was seen to be bound."""


class BoundPods:
    """The pods of a record by node, without those of DaemonSets and mirror pods."""

    def __init__(self, history: History) -> None:
        """Read all pods, whether they are of the run or not."""
        self.stays: dict[str, list[PodStay]] = {}
        for pod in history.pods.values():
            if pod.node and pod.shape.owner_kind not in STAYING:
                self.stays.setdefault(pod.node, []).append(_stay(history, pod))
        for stays in self.stays.values():
            stays.sort(key=lambda each: each.begin)
        self._others: dict[str, list[tuple[int, int]]] = {}
        """By node, how many pods that are not recorded were there from a time on."""
        for line in history.fleet.others:
            count = line.pods if line.movable is None else line.movable
            self._others.setdefault(line.node, []).append((line.time, count))

    def empty_after(self, node: str, time: int) -> int | None:
        """Return the first time from `time` on at which a node has no such pod; None if it always had some."""
        stays = [each for each in self.stays.get(node, ()) if each.end is None or each.end > time]
        others = self._others.get(node, [])
        moments = {time, *(each.end for each in stays if each.end), *(when for when, _ in others)}
        for moment in sorted(each for each in moments if each >= time):
            is_taken = any(
                each.begin <= moment and (each.end is None or each.end > moment) for each in stays
            )
            if not is_taken and not _at(others, moment):
                return moment
        return None


def _at(changes: list[tuple[int, int]], moment: int) -> int:
    return next((count for when, count in reversed(changes) if when <= moment), 0)


def _stay(history: History, pod: PodHistory) -> PodStay:
    ends = [each for each in (pod.ended, pod.gone) if each is not None]
    if "ended" in pod.at_first:
        ends.append(pod.seen)
    begin = pod.seen if pod.bound is None else pod.bound
    return PodStay(begin, min(ends, default=None), _workload(history, pod), pod.bound is not None)


def _workload(history: History, pod: PodHistory) -> tuple[str, ...]:
    """Return what makes the pod again: the owner of its Job if there is one, its owner, or itself."""
    owner = pod.shape.owner_uid
    job = history.jobs_by_uid.get(owner)
    if job is not None:
        return (job.namespace, job.owner_uid or job.uid)
    return (pod.namespace, owner or pod.name)


def placements_of(pods: BoundPods) -> Iterator[tuple[str, PodStay, bool]]:
    """Yield each pod that was seen to be bound, with its node, and whether its workload had been there before."""
    for node, stays in pods.stays.items():
        known: set[tuple[str, ...]] = set()
        for each in stays:
            if each.was_seen:
                yield node, each, each.workload in known
            known.add(each.workload)
