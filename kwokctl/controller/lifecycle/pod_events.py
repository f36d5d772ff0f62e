"""The Events that a kubelet reports of a pod, counted and written as a kubelet's recorder decides."""

from collections import OrderedDict

import msgspec


class PodEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An Event about a pod or one of its containers."""

    type: str = "Normal"
    """"Normal" or "Warning"."""
    reason: str
    message: str
    field: str = ""
    """The field path of the container; empty for the pod."""


_BURST = 25.0
_REFILL = 300.0
"""Seconds after which one more may be written."""
_REMEMBERED = 16_384
"""Pods: a fleet has more than a kubelet, which remembers 4,096 Events."""


class _PodEvents(msgspec.Struct):
    left: float
    """The number of Events that may be written now."""
    at: float
    seen: dict[PodEvent, tuple[float, int]] = msgspec.field(default_factory=dict)
    """For each Event when it was first, and how often."""


class EventCounts:
    """The Events of the pods that had some last."""

    def __init__(self) -> None:
        self._pods: OrderedDict[str, _PodEvents] = OrderedDict()

    def count(self, uid: str, event: PodEvent, now: float) -> tuple[float, int] | None:
        """Return when an Event was first, and how often by now; None if it is not to be written."""
        pod = self._pods.setdefault(uid, _PodEvents(left=_BURST, at=now))
        self._pods.move_to_end(uid)
        if len(self._pods) > _REMEMBERED:
            self._pods.popitem(last=False)
        first, times = pod.seen.get(event, (now, 0))
        pod.seen[event] = first, times + 1
        pod.left = min(pod.left + (now - pod.at) / _REFILL, _BURST)
        pod.at = now
        if pod.left < 1:
            return None
        pod.left -= 1
        return first, times + 1

    def forget(self, uid: str) -> None:
        """Note that a pod is gone."""
        self._pods.pop(uid, None)
