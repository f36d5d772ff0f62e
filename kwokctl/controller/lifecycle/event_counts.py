"""Counts a pod's Events, and limits their writes, like a kubelet's recorder.

Source: events_cache.go in k8s.io/client-go, tools/record: Events that are alike become one with a count,
and about an object 25 are written in a burst, then one in five minutes.
"""

from collections import OrderedDict

import msgspec

from kwokctl.controller.lifecycle.events import PodEvent

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
