"""Pods that live in virtual time: what a watcher of the API sees of them."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from kwokctl.controller.lifecycle.outcome import NodeOffer, PodMemory, PodOutcome
from kwokctl.controller.lifecycle.pod import sync
from kwokctl.controller.lifecycle.pod_events import PodEvent
from kwokctl.controller.lifecycle.pod_faults.hits import NO_HITS, PodHits, WorkloadHit
from kwokctl.expr.duration import format_time
from kwokctl.json_value import Json
from kwokctl.replacing import replace

BEGIN = 1_767_268_800.0
PLACE = NodeOffer(host_ips=("192.0.2.1",), pod_ips=("10.0.0.7",))


def pod(
    *containers: Mapping[str, Any],
    init: Sequence[Mapping[str, Any]] = (),
    annotations: Mapping[str, str] | None = None,
    **spec: Any,
) -> Json:
    """Return a pod that has been bound to a node."""
    meta = {"name": "web", "namespace": "default", "uid": "u-1", "generation": 1}
    body = {"containers": list(containers or ({"name": "main", "image": "x"},)), **spec}
    if init:
        body["initContainers"] = list(init)
    scheduled = {"type": "PodScheduled", "status": "True", "lastTransitionTime": format_time(BEGIN)}
    return {
        "metadata": {**meta, "annotations": dict(annotations or {})},
        "spec": body,
        "status": {"phase": "Pending", "conditions": [scheduled]},
    }


class Life:
    """A pod and its kubelet."""

    def __init__(self, body: Json, place: NodeOffer = PLACE, now: float = BEGIN) -> None:
        self.pod, self.place, self.now = body, place, now
        self.memory: PodMemory | None = None
        self.seen: list[tuple[float, str]] = []
        """When something became visible, and how kubectl would call it."""
        self.events: list[PodEvent] = []
        self.strikes: list[tuple[WorkloadHit, float]] = []
        self.is_gone = False

    @property
    def status(self) -> Json:
        return self.pod["status"]

    def run(self, seconds: float) -> "Life":
        """Let it live for some time; each due moment is kept exactly."""
        end = self.now + seconds
        while not self.is_gone:
            outcome = self._sync()
            if outcome.deletes or outcome.due > end:
                self.is_gone = outcome.deletes
                break
            self.now = max(self.now, outcome.due)
        self.now = end
        return self

    def step(self) -> None:
        """Look once, and let time pass until something is due."""
        self.now = max(self.now, self._sync().due)

    def look(self) -> PodOutcome:
        """Return what becomes of it now, without letting that happen."""
        return sync(self.pod, self.memory, self.now, self.place)

    def note(self) -> None:
        """Take note that the status has become another one."""

    def delete(self, grace: int = 30) -> "Life":
        meta = self.pod["metadata"]
        meta["deletionTimestamp"] = format_time(int(self.now) + grace)
        meta["deletionGracePeriodSeconds"] = grace
        meta["generation"] += 1
        return self

    def hit(self, **effects: Any) -> "Life":
        """Let only these faults hit it from now on."""
        self.place = replace(self.place, hits=PodHits(**effects) if effects else NO_HITS)
        return self

    def reasons(self) -> list[str]:
        return [each.reason for each in self.events]

    def container(self, name: str = "main") -> Json:
        every = [*self.status["containerStatuses"], *self.status.get("initContainerStatuses", ())]
        return next(each for each in every if each["name"] == name)

    def condition(self, name: str) -> Json:
        return next(each for each in self.status["conditions"] if each["type"] == name)

    def words(self) -> list[str]:
        """Return what was visible, without repeats."""
        words = [word for _, word in self.seen]
        return [word for at, word in enumerate(words) if at == 0 or words[at - 1] != word]

    def _sync(self) -> PodOutcome:
        before = deepcopy(self.pod)
        outcome = sync(self.pod, self.memory, self.now, self.place)
        assert self.pod == before, "the pod that was passed in has been changed"
        self.memory = outcome.memory
        self.events += outcome.events
        self.strikes += (each for each in outcome.strikes if each not in self.strikes)
        if outcome.annotations:
            self.pod["metadata"]["annotations"] |= outcome.annotations
        if outcome.status is not None:
            assert outcome.status != self.pod["status"]
            self.pod["status"] = outcome.status
            self.seen.append((self.now - BEGIN, self._word()))
            self.note()
        return outcome

    def _word(self) -> str:
        for each in self.status.get("containerStatuses", ()):
            state = each["state"]
            if "waiting" in state or "terminated" in state:
                return str((state.get("waiting") or state["terminated"])["reason"])
        return str(self.status.get("reason") or self.status["phase"])
