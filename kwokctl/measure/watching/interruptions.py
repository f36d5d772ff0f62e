"""Notes what happens to pods against their will: restarts, preemptions, evictions, refusals."""

from collections.abc import Iterable

import msgspec

from kwokctl.measure.record.fleet_lines import PodInterruption
from kwokctl.measure.watching.numbered_texts import Emit, Texts
from kwokctl.measure.watching.pod_devices import devices_in

EVICTED = "EvictionByEvictionAPI"
"""The reason of the condition of a pod that was evicted through the API: only of these the devices are of interest."""
_UNKNOWN = "unknown"


class _End(msgspec.Struct, gc=False):
    reason: str | None = None


class _State(msgspec.Struct, gc=False):
    terminated: _End | None = None


class SeenContainer(msgspec.Struct, rename="camel", gc=False):
    """The fields of a container's status that say how often it was restarted, and why."""

    name: str
    restart_count: int = 0
    last_state: _State | None = None

    @property
    def last_reason(self) -> str:
        """The reason of its end before it was restarted."""
        end = self.last_state.terminated if self.last_state else None
        return (end.reason if end else None) or _UNKNOWN


class EndingPod(msgspec.Struct, gc=False):
    """A pod that is to end before its time."""

    number: int
    """Its number in the record; 0 if it is not recorded."""
    node: str
    reason: str
    raw: bytes
    """Its JSON."""


class PodInterruptions:
    """Writes a line when containers of a pod were restarted, and when it is to end before its time."""

    def __init__(self, emit: Emit, texts: Texts) -> None:
        self._emit = emit
        self._texts = texts
        self._restarts: dict[str, dict[str, int]] = {}
        """By the uids of pods of which containers were restarted: how often each, by name."""
        self._ending: set[str] = set()
        """The uids of pods that are to end."""

    def restarted(
        self,
        uid: str,
        number: int,
        node: str,
        containers: Iterable[SeenContainer],
        time: int,
        *,
        is_old: bool,
    ) -> None:
        """Note which containers were restarted since the last look; what `is_old` happened before."""
        for each in containers:
            if not each.restart_count:
                continue
            known = self._restarts.setdefault(uid, {})
            more = each.restart_count - known.get(each.name, 0)
            known[each.name] = each.restart_count
            if more > 0 and not is_old:
                reason = self._texts.number(each.last_reason)
                place = self._texts.number(node)
                self._emit(PodInterruption(time, number, more, reason, place))

    def ends(self, uid: str, pod: EndingPod, time: int, *, is_old: bool) -> None:
        """Note that a pod is to end before its time, which counts once."""
        if uid in self._ending:
            return
        self._ending.add(uid)
        if not is_old:
            devices = devices_in(pod.raw, pod.node) if EVICTED in pod.reason else ""
            texts = map(self._texts.number, (pod.reason, pod.node, devices))
            self._emit(PodInterruption(time, pod.number, 0, *texts))

    def forget(self, uid: str) -> None:
        """Forget a pod that exists no longer."""
        self._restarts.pop(uid, None)
        self._ending.discard(uid)
