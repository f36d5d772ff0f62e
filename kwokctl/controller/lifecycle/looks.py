"""Computes the outcomes of pods: with plans where there are any, else with the function itself."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from kwokctl.controller.engine.hooks import Hooks
from kwokctl.controller.engine.object_state import ObjectState
from kwokctl.controller.known_trainings.trainings import Trainings
from kwokctl.controller.lifecycle.admission.claimed_devices import ClaimedDevices
from kwokctl.controller.lifecycle.admission.claims import claims_of
from kwokctl.controller.lifecycle.admission.device_claims import device_claims_of
from kwokctl.controller.lifecycle.admission.device_table import Devices, LostDevice
from kwokctl.controller.lifecycle.admission.refusal import Refusal
from kwokctl.controller.lifecycle.admission.room import NodeRoom
from kwokctl.controller.lifecycle.containers.container import NEVER
from kwokctl.controller.lifecycle.containers.find_program import ProgramRules
from kwokctl.controller.lifecycle.device_status import number_of
from kwokctl.controller.lifecycle.ends import UNEXPECTED, Eviction
from kwokctl.controller.lifecycle.gang_checks import gang_checks
from kwokctl.controller.lifecycle.life_plans import DEVICES_OF, CommonPod, LifePlans, PodLook
from kwokctl.controller.lifecycle.outcome import FINAL, Absence, NodeOffer, PodMemory, PodOutcome
from kwokctl.controller.lifecycle.pod import sync
from kwokctl.controller.lifecycle.pod_faults.node_faults import NodeFaults
from kwokctl.controller.lifecycle.statuses import has_started, own_ips
from kwokctl.controller.plans import Plans
from kwokctl.kube.stored_json import ObjectInJson
from kwokctl.replacing import replace


class PodLooks:
    """The state that is kept about pods between two looks at them."""

    def __init__(  # noqa: PLR0913 - wired once
        self,
        hooks: Hooks[Any],
        room: NodeRoom,
        wall: Callable[[], float],
        plans: Plans | None,
        programs: ProgramRules = (),
        *,
        faults: NodeFaults,
        trainings: Trainings,
        shows_devices: bool = True,
        disputed: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Look at pods at the time of day that is `wall`; those that are alike are known to `plans`.

        `disputed` is called with a node one of whose pods has to give up a device. `shows_devices` says whether the
        API server keeps devices in statuses.
        """
        self._hooks = hooks
        self._room = room
        self._wall = wall
        self._plans = LifePlans(plans, programs) if plans is not None else None
        self._shows_devices = shows_devices
        self._faults, self._faulty = faults, faults.faulty
        self._trainings = trainings
        self._disputed = disputed
        self._programs = programs
        self._memories: dict[str, PodMemory] = {}
        self._claimed = ClaimedDevices()
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
            for lost in self._room.note(state.node, state.uid, value, state.opened):
                self._give_up(state, lost)

    def awaits_devices(self, state: ObjectState) -> bool:
        """Return whether it is not known yet which devices a pod has that asks for some, and has not ended."""
        common = self._common(state)
        value = state.opened() if common is None else common.pod
        claims = device_claims_of(value["spec"]) if common is None else common.claims.devices
        if not claims or self._room.has_devices(state.node, state.uid):
            return False
        return (value.get("status") or {}).get("phase") not in FINAL

    def awaits_claims(self, state: ObjectState) -> Collection[str]:
        """Return the DRA drivers that the claims of a pod wait for; none if they are prepared, or need none."""
        common = self._common(state)
        spec = state.opened()["spec"] if common is None else common.pod["spec"]
        if "resourceClaims" not in spec or not (drivers := self._room.drivers(state.node)):
            return ()
        value = state.opened()
        is_over = (value.get("status") or {}).get("phase") in FINAL
        if is_over or "deletionTimestamp" in value["metadata"]:
            return ()
        return drivers if self._claimed.awaits(state.uid, value) else ()

    def prepared(self, state: ObjectState, devices: Devices) -> None:
        """Note the devices that a pod has through its claims."""
        self._claimed.prepared(state.uid, devices)

    def _give_up(self, state: ObjectState, lost: LostDevice) -> None:
        """End a pod that claims a device which an older pod has."""
        end = Eviction(at=self._wall(), message=lost.message, reason=UNEXPECTED)
        self._evictions.setdefault(lost.uid, end)
        if lost.uid != state.uid:
            self._disputed(state.node)

    def is_last(self, outcome: PodOutcome) -> bool:
        """Return whether a pod takes nothing of its node any more once this is written."""
        common = None
        if self._plans is not None and outcome.form is not None:
            common = self._plans.common(outcome.form)
        status = outcome.status if common is None else common.pod["status"]
        return outcome.deletes or (status is not None and status.get("phase") in FINAL)

    def release(self, state: ObjectState) -> None:
        """Release what a pod takes of its node."""
        self._room.release(state.node, state.uid)
        self._claimed.forget(state.uid)

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
        if common is None or uid in self._evictions or state.node in self._faulty:
            return None
        if common.has_claims and self._room.drivers(state.node):
            return None
        assert form is not None
        assert self._plans is not None
        try:
            if not common.has_started and self._room.refusal(
                state.node, uid, common.pod, common.claims, self._wall()
            ):
                return None
            functions: Mapping[str, Any] = self._hooks.functions(state)
            if common.claims.devices:
                ids = self._planned_devices(state, common)
                if ids is None:
                    return None
                functions = {**functions, DEVICES_OF: lambda _: ids}
            moment = PodLook(self._wall(), self._memories.get(uid), functions)
            return self._plans.outcome(form, moment)
        except Exception:  # whatever it is, it comes again when the pod is looked at by itself
            return None

    def _planned_devices(self, state: ObjectState, common: CommonPod) -> Sequence[str] | None:
        """Return the devices that a pod gets now; None if it must be looked at by itself.

        It gets what it asks for, or has it, and all are well.
        """
        node, uid = state.node, state.uid
        if not self._shows_devices or not self._room.are_devices_well(node):
            return None
        ids = [each.device_id for each in self._room.devices(node, uid)]
        expected = common.devices if common.has_started else number_of(common.claims.devices)
        return ids if len(ids) == expected else None

    def _place(self, state: ObjectState) -> NodeOffer:
        functions: Mapping[str, Any] = self._hooks.functions(state)
        value = state.opened()
        refusal = None if has_started(value) else self._refusal(state, value)
        is_host = bool(value["spec"].get("hostNetwork"))
        pod = (state.node, is_host, state.uid, state.name, state.namespace)
        devices = self._devices(state, value)
        hits = self._faults.hits(value, state.node, devices)
        training = self._trainings.of(value)
        useless: tuple[str, ...] = ()
        if training is not None and training.problem:
            useless, training = (training.problem,), None
        if refusal is None and hits.refusal is not None and not has_started(value):
            refusal = hits.refusal
        return NodeOffer(
            host_ips=functions["NodeIPsWith"](state.node),
            pod_ips=own_ips(value, is_host=is_host) or functions["PodIPsWith"](*pod),
            refusal=refusal,
            devices=devices,
            shows_devices=self._shows_devices,
            eviction=self._evictions.get(state.uid),
            absence=self._absences.get(state.uid),
            programs=self._programs,
            hits=hits,
            training=training,
            useless=useless,
            preflight=gang_checks(value, state.node, devices, self._trainings, self._faults),
        )

    def _refusal(self, state: ObjectState, value: ObjectInJson) -> Refusal | None:
        claims = claims_of(value["spec"])
        return self._room.refusal(state.node, state.uid, value, claims, self._wall())

    def _devices(self, state: ObjectState, value: ObjectInJson) -> Devices:
        node, uid = state.node, state.uid
        if has_started(value) and self.awaits_devices(state):
            self._room.restore_devices(node, uid, claims_of(value["spec"]), self._wall())
        devices = self._room.devices(node, uid)
        if "resourceClaims" in value["spec"]:
            devices += self._claimed.of(node, uid, self._room.facts(node))
        return devices
