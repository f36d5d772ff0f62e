"""The groups that pods are parted into: by namespace, owner, priority, size, load, phase, gang or a label."""

from collections.abc import Callable, Mapping, Sequence

from kwokctl.measure.gangs import kind_of, membership
from kwokctl.measure.history import LOAD_LABEL, History, PodHistory


def group_of(pod: PodHistory, history: History, key: str) -> str:
    """Return the group of a pod by one of `GROUPS`, or by `label:KEY`."""
    if key.startswith(_BY_LABEL):
        return pod.shape.labels.get(key.removeprefix(_BY_LABEL)) or "none"
    return _GROUP_OF[key](pod, history) or "none"


def _load_of(pod: PodHistory, history: History) -> str:
    arrival = history.arrival(pod.uid, pod.shape.owner_uid)
    return arrival.load if arrival else pod.shape.labels.get(LOAD_LABEL, "")


def _phase_of(pod: PodHistory, history: History) -> str:
    arrival = history.arrival(pod.uid, pod.shape.owner_uid)
    return arrival.phase if arrival else ""


_BY_LABEL = "label:"
_GROUP_OF: Mapping[str, Callable[[PodHistory, History], str]] = {
    "namespace": lambda pod, _: pod.namespace,
    "owner": lambda pod, _: pod.shape.owner_kind,
    "priority": lambda pod, _: str(pod.shape.priority),
    "size": lambda pod, _: pod.shape.requests,
    "load": _load_of,
    "phase": _phase_of,
    "gang": lambda pod, history: kind_of(membership(pod, history)),
}
GROUPS: Sequence[str] = tuple(_GROUP_OF)
"""The keys for groups of pods, beside labels."""
