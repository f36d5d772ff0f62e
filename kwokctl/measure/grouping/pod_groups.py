"""The groups that pods are parted into: by namespace, owner, priority, size, load, phase, gang or a label."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from kwokctl.errors import UsageError
from kwokctl.measure.grouping.gangs import kind_of, membership
from kwokctl.measure.histories.history import LOAD_LABEL, History, PodHistory


def check_keys(keys: Iterable[str], place: str = "'--by'") -> None:
    """Raise UsageError, which names the place, for a key of groups that does not exist."""
    for key in keys:
        if key not in GROUPS and not key.removeprefix(_BY_LABEL) != key != _BY_LABEL:
            raise UsageError(
                f"{place} is '{key}'", hint=f"choose from: {', '.join(GROUPS)}, label:NAME"
            )


def labels_of(keys: Iterable[str]) -> tuple[str, ...]:
    """Return the labels that groups of these keys have in common."""
    return tuple(key.removeprefix(_BY_LABEL) for key in keys if key.startswith(_BY_LABEL))


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
