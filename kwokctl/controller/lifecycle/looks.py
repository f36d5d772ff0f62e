"""Computes the outcomes of pods: with plans where there are any, else with the function itself."""

from collections.abc import Callable, Mapping
from typing import Any

from kwokctl.controller.engine.hooks import Hooks
from kwokctl.controller.engine.object_state import ObjectState
from kwokctl.controller.lifecycle.admission.claims import claims_of
from kwokctl.controller.lifecycle.admission.refusal import Refusal
from kwokctl.controller.lifecycle.admission.room import NodeRoom
from kwokctl.controller.lifecycle.containers.container import NEVER
from kwokctl.controller.lifecycle.containers.find_program import ProgramRules
from kwokctl.controller.lifecycle.ends import Eviction
from kwokctl.controller.lifecycle.life_plans import CommonPod, LifePlans, PodLook
from kwokctl.controller.lifecycle.outcome import FINAL, Absence, NodeOffer, PodMemory, PodOutcome
from kwokctl.controller.lifecycle.pod import sync
from kwokctl.controller.lifecycle.statuses import has_started, own_ips
from kwokctl.controller.plans import Plans
from kwokctl.kube.stored_json import ObjectInJson
from kwokctl.replacing import replace


class PodLooks:
    """The state that is kept about pods between two looks at them."""

    def __init__(
        self,
        hooks: Hooks[Any],
        room: NodeRoom,
        wall: Callable[[], float],
        plans: Plans | None,
        programs: ProgramRules = (),
    ) -> None:
        """Look at pods at the time of day that is `wall`; those that are alike are known to `plans`."""
        self._hooks = hooks
        self._room = room
        self._wall = wall
        self._plans = LifePlans(plans, programs) if plans is not None else None
        self._programs = programs
        self._memories: dict[str, PodMemory] = {}
        self._evictions: dict[str, Eviction] = {}
        self._absences: dict[str, Absence] = {}
        """Those from which pods have not recovered yet."""

    def outcome(self, state: ObjectState) -> PodOutcome:
        """Return the present outcome for a pod; ExpressionError if an annotation cannot be read."""
        absence = self._absences.get(state.uid)
        if absence is None:
            return self._planned(state) or self.by_itself(state)
        return self._late(state, absence)

    def away(self, uid: str, absence: Absence) -> None:
        """Note that the kubelet of a pod was not there; a reboot is not forgotten for a return."""
        before = self._absences.get(uid)
        if before is not None and before.is_reboot:
            absence = replace(absence, is_reboot=True)
        self._absences[uid] = absence

    def rebooted(self, uid: str) -> Absence | None:
        """Return since when the containers of a pod have not been there; None if they are."""
        absence = self._absences.get(uid)
        return absence if absence is not None and absence.is_reboot else None

    def caught_up(self, uid: str) -> None:
        """Forget that the kubelet was away: it makes no difference any more."""
        self._absences.pop(uid, None)

    def by_itself(self, state: ObjectState) -> PodOutcome:
        """Return the present outcome for a pod, computed without a plan."""
        memory = self._memories.get(state.uid)
        return sync(state.opened(), memory, self._wall(), self._place(state))

    def _late(self, state: ObjectState, absence: Absence) -> PodOutcome:
        """Return the outcome for a pod whose kubelet was away; forget the absence if it makes no difference."""
        planned = None if absence.is_reboot else self._planned(state)
        if planned is not None and not planned.is_change:
            del self._absences[state.uid]
            return planned
        return self._recovering(state)

    def _recovering(self, state: ObjectState) -> PodOutcome:
        now, memory, place = self._wall(), self._memories.get(state.uid), self._place(state)
        outcome = sync(state.opened(), memory, now, place)
        usual = sync(state.opened(), memory, now, replace(place, absence=None))
        if outcome == usual and outcome.due > now:
            del self._absences[state.uid]
        return outcome

    def remember(self, state: ObjectState, outcome: PodOutcome) -> None:
        """Keep what the status does not say, after it was written.

        What was written is not to happen again to a pod that a rewind puts back.
        """
        memory = outcome.memory
        if memory is not None and (memory.levels or outcome.due < NEVER):
            self._memories[state.uid] = memory
        else:
            self._memories.pop(state.uid, None)
        if state.uid in self._absences:
            self._recovering(state)
        if outcome.status is not None and outcome.status.get("phase") in FINAL:
            self._evictions.pop(state.uid, None)

    def evict(self, state: ObjectState, message: str) -> None:
        """End a pod."""
        self._evictions.setdefault(state.uid, Eviction(at=self._wall(), message=message))

    def count_in(self, state: ObjectState) -> None:
        """Keep what the node of a pod has left for others."""
        common = self._common(state)
        value = state.opened() if common is None else common.pod
        if not has_started(value):
            return
        if value["status"].get("phase") in FINAL:
            self.release(state)
        else:
            self._room.note(state.node, state.uid, value)

    def release(self, state: ObjectState) -> None:
        """Release what a pod takes of its node."""
        self._room.release(state.node, state.uid)

    def forget(self, state: ObjectState) -> None:
        """Note that a pod is gone."""
        self._memories.pop(state.uid, None)
        self._evictions.pop(state.uid, None)
        self.caught_up(state.uid)
        self.release(state)

    def _common(self, state: ObjectState) -> CommonPod | None:
        """Return what a pod has in common with others; None if it is not like any."""
        if self._plans is None or state.form is None:
            return None
        return self._plans.common(state.form)

    def _planned(self, state: ObjectState) -> PodOutcome | None:
        """Return the outcome for a pod of a known shape that its node admits and does not evict."""
        form, common, uid = state.form, self._common(state), state.uid
        if common is None or uid in self._evictions:
            return None
        assert form is not None
        assert self._plans is not None
        try:
            if not common.has_started and self._room.refusal(
                state.node, uid, common.pod, common.claims
            ):
                return None
            functions: Mapping[str, Any] = self._hooks.functions(state)
            moment = PodLook(self._wall(), self._memories.get(uid), functions)
            return self._plans.outcome(form, moment)
        except Exception:  # whatever it is, it comes again when the pod is looked at by itself
            return None

    def _place(self, state: ObjectState) -> NodeOffer:
        functions: Mapping[str, Any] = self._hooks.functions(state)
        value = state.opened()
        is_host = bool(value["spec"].get("hostNetwork"))
        pod = (state.node, is_host, state.uid, state.name, state.namespace)
        return NodeOffer(
            host_ips=functions["NodeIPsWith"](state.node),
            pod_ips=own_ips(value, is_host=is_host) or functions["PodIPsWith"](*pod),
            refusal=None if has_started(value) else self._refusal(state, value),
            eviction=self._evictions.get(state.uid),
            absence=self._absences.get(state.uid),
            programs=self._programs,
        )

    def _refusal(self, state: ObjectState, value: ObjectInJson) -> Refusal | None:
        return self._room.refusal(state.node, state.uid, value, claims_of(value["spec"]))
