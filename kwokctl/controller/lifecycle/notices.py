"""Passes events from outside on to pods: evictions, and the return of their kubelets."""

import orjson

from kwokctl.controller.engine.engine import StageEngine
from kwokctl.controller.lifecycle.kubelet_life import KubeletLife
from kwokctl.controller.lifecycle.looks import PodLooks
from kwokctl.controller.lifecycle.moments import read_moment
from kwokctl.controller.lifecycle.outcome import FINAL, Absence
from kwokctl.controller.lifecycle.pod_faults.node_faults import NodeFaults
from kwokctl.controller.lifecycle.statuses import has_started
from kwokctl.controller.stages.lives import KUBELET, LIFE
from kwokctl.kube.stored_json import ObjectInJson

_PLAYED_BY_STAGES = f"Faults of its node have no effect on a pod that Stages play: annotate it with '{LIFE}: {KUBELET}'"


class PodNotices:
    """Tells an engine about evictions of its pods, and about the return of their kubelets."""

    def __init__(
        self, engine: StageEngine, life: KubeletLife, looks: PodLooks, faults: NodeFaults
    ) -> None:
        """Wake the pods of `engine`, and let `looks` know; `faults` says which pods are hit."""
        self._faults = faults
        self._engine = engine
        self._life = life
        self._looks = looks

    def may_evict(self, pod: ObjectInJson) -> bool:
        """Return whether a pod has begun to live here, and has not come to its end."""
        state = self._engine.get(_key(pod))
        is_ours = state is not None and self._life.concerns(state)
        return is_ours and has_started(pod) and pod["status"].get("phase") not in FINAL

    def evict(self, pod: ObjectInJson, message: str) -> None:
        """Let a pod come to its end."""
        state = self._engine.get(_key(pod))
        if state is None or state.uid != pod["metadata"].get("uid") or state.parked:
            return
        self._looks.evict(state, message)
        self._engine.wake(state.key, orjson.dumps(pod))

    def look_again(self, raw: bytes) -> None:
        """Let a pod be looked at, though it waits for nothing."""
        pod: ObjectInJson = orjson.loads(raw)
        state = self._engine.get(_key(pod))
        if state is None or state.uid != pod["metadata"].get("uid") or state.parked:
            return
        if self._life.concerns(state):
            self._engine.wake(state.key, raw)
        elif self._faults.mean(pod, state.node):
            self._life.ignored_faults.tell(state, (_PLAYED_BY_STAGES,))

    def let_end(self, raw: bytes, at: float) -> None:
        """Let a pod whose time to end is over end at a time of day: what has held it may be gone."""
        pod: ObjectInJson = orjson.loads(raw)
        deleted = pod["metadata"].get("deletionTimestamp")
        state = self._engine.get(_key(pod))
        if deleted and state is not None and read_moment(deleted) < at:
            self._looks.away(state.uid, Absence(until=at))

    def back(self, key: str, at: float) -> None:
        """Note that the kubelet of a pod was away until a time of day; wake the pod then."""
        state = self._engine.get(key)
        if state is None or not self._life.concerns(state):
            return
        if state.parked or state.is_known:  # else nothing was due, and nothing has happened
            self._looks.away(state.uid, Absence(until=at))

    def reboot(self, key: str, at: float) -> None:
        """Note that the machine of a pod was started anew; read the pod, and wake it then."""
        if (state := self._engine.get(key)) is not None:
            self._looks.away(state.uid, Absence(until=at, is_reboot=True))
            self._engine.park(key)


def _key(pod: ObjectInJson) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
