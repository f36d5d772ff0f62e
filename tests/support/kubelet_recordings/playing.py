"""Plays a case by the function, in virtual time."""

from copy import deepcopy

from kwokctl.controller.lifecycle.admission.refusal import NodeState, refusal_of
from kwokctl.controller.lifecycle.ends import Eviction
from kwokctl.controller.lifecycle.eviction import victim_of
from kwokctl.controller.lifecycle.outcome import NodeOffer
from kwokctl.kube.client import PatchType
from kwokctl.kube.patching.apply_patch import apply_patch
from kwokctl.replacing import replace
from tests.support.kubelet_recordings.cases import Action, Case
from tests.support.kubelet_recordings.views import View, view_of, without_repeats
from tests.support.pod_lives import PLACE, Life

_NODE = NodeState(
    name="node",
    allocatable={"cpu": 4000, "memory": 8 << 30, "ephemeral-storage": 64 << 30, "pods": 110},
)
_BEGINS = 1.2
"""Seconds after which something has become of a pod: what is done to it counts from then."""
_GONE: View = ("gone",)


class PlayedCase(Life):
    """A pod of which is kept what a watcher sees."""

    def __init__(self, case: Case) -> None:
        body = deepcopy(dict(case.body))
        body["metadata"] |= {"uid": "u-1", "generation": 1}
        body["status"] = {"phase": "Pending", "qosClass": "BestEffort"}
        refusal = refusal_of(body, _NODE)
        place = NodeOffer(host_ips=PLACE.host_ips, pod_ips=PLACE.pod_ips, refusal=refusal)
        super().__init__(body, place)
        self.versions = [view_of(self.pod)]
        self._play(case)

    @property
    def views(self) -> list[View]:
        """What was visible, without repeats."""
        return without_repeats(self.versions)

    def note(self) -> None:
        """Keep what is visible now."""
        self.versions.append(view_of(self.pod))

    def _play(self, case: Case) -> None:
        passed = 0.0
        for action in case.actions:
            self.run(_BEGINS + action.at - passed)
            passed = _BEGINS + action.at
            self._act(action)
            self.note()
        self.run(_BEGINS + case.seconds - passed)
        if self.is_gone:
            self.versions.append(_GONE)

    def _act(self, action: Action) -> None:
        if action.delete is not None:
            self.delete(action.delete)
        if action.status is not None:
            self._patch({"status": dict(action.status)})
        if action.resize is not None:
            self._patch({"spec": dict(action.resize)})
            self.pod["metadata"]["generation"] += 1
        if action.presses:
            self._evict()

    def _evict(self) -> None:
        found = victim_of([self.pod], ["MemoryPressure"])
        assert found is not None
        eviction = Eviction(at=self.now, message=found[1])
        self.place = replace(self.place, eviction=eviction)

    def _patch(self, patch: dict[str, object]) -> None:
        self.pod = apply_patch(self.pod, patch, PatchType.STRATEGIC, "Pod")
