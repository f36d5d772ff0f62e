"""The life of a pod as a kubelet reports it: its status now, and the time of its next change.

A pure function of the pod, of what is known of its node, and of the time. All but the back-off of
containers is in the status, so that any controller can continue with a pod.
"""

from collections.abc import Iterable, Mapping

from kwokctl.controller.lifecycle import reboot, whole_restart
from kwokctl.controller.lifecycle.admission.device_table import Devices
from kwokctl.controller.lifecycle.containers.container import NEVER
from kwokctl.controller.lifecycle.containers.container_states import EPHEMERAL
from kwokctl.controller.lifecycle.device_status import annotation_of, by_container
from kwokctl.controller.lifecycle.ends import (
    EVICTED,
    Eviction,
    PodEnd,
    deadline_of,
    disruption,
    end_of,
    not_ending,
    rejected,
)
from kwokctl.controller.lifecycle.moments import read_moment, write_moment
from kwokctl.controller.lifecycle.outcome import FINAL, NodeOffer, PodMemory, PodOutcome
from kwokctl.controller.lifecycle.pod_conditions import TERMINAL, conditions_of, phase_of
from kwokctl.controller.lifecycle.pod_containers import PodContainers
from kwokctl.controller.lifecycle.pod_events import PodEvent
from kwokctl.controller.lifecycle.resizing import let_replace, resize
from kwokctl.controller.lifecycle.statuses import addresses_of
from kwokctl.json_value import Json
from kwokctl.kube.statuses import DEVICES_FIELD
from kwokctl.kube.stored_json import ObjectInJson
from kwokctl.replacing import replace

_SANDBOX = 0.5
"""Seconds after the start of a pod in which its sandbox is made."""
_REMOVAL = 2.0
"""Seconds for which a pod that is deleted without grace is left to the API server, which marks it and then removes it: a
write between the two makes the second fail. A real kubelet is slower than that."""


def sync(pod: ObjectInJson, memory: PodMemory | None, now: float, place: NodeOffer) -> PodOutcome:
    """Advance a pod to now, by at most one change of each container.

    `now` is a POSIX time stamp. Raises ExpressionError where an annotation cannot be read.
    """
    status = pod.get("status") or {}
    is_deleted = "deletionTimestamp" in pod["metadata"]
    if "startTime" not in status:
        return PodOutcome(deletes=True) if is_deleted else _admit(pod, now, place)
    life = _Life({**pod, "status": status}, memory or PodMemory(at=now), now, place)
    if status.get("phase") in FINAL and not life.containers.any_running():
        return PodOutcome(deletes=is_deleted and life.held is None)
    if pod["metadata"].get("deletionGracePeriodSeconds") == 0:
        removed = read_moment(pod["metadata"]["deletionTimestamp"]) + _REMOVAL
        if now < removed:
            return PodOutcome(due=removed, memory=memory)
    life.go_on(place.eviction)
    return life.outcome(place)


def _admit(pod: ObjectInJson, now: float, place: NodeOffer) -> PodOutcome:
    start = {"startTime": write_moment(now)}
    before = pod.get("status") or {}
    generation = pod["metadata"].get("generation")
    observed = {"observedGeneration": generation} if generation else {}
    if place.refusal is not None:
        reason, message = place.refusal
        failed = {"phase": "Failed", "reason": reason, "message": rejected(message)}
        event = PodEvent(type="Warning", reason=reason, message=message)
        status = {**before, **observed, **start, **failed, "conditions": []}
        return PodOutcome(status=status, events=(event,))
    admitted: ObjectInJson = {**pod, "status": {**before, **start}}
    life = _Life(admitted, PodMemory(at=now), now, replace(place, absence=None))
    life.go_on()
    return life.outcome(place)


class _Life:
    """A pod and its containers, while they are looked at."""

    def __init__(self, pod: ObjectInJson, memory: PodMemory, now: float, place: NodeOffer) -> None:
        self.pod, self.now, self.reported = pod, now, memory.at
        self.spec, self.meta, self.before = pod["spec"], pod["metadata"], pod["status"]
        self.grace = float(self.spec.get("terminationGracePeriodSeconds", 30))
        self.events: list[PodEvent] = []
        self.end: PodEnd | None = None
        self.has_ended = self.resizing = self.restarting = False
        self.restartable = whole_restart.may_happen(self.spec)
        self.absence = place.absence
        self.awake = 0.0 if self.absence is None else self.absence.until
        self.containers = PodContainers(pod, memory, now, self.awake, place)
        self.held = place.hits.holds

    def go_on(self, eviction: Eviction | None = None) -> None:
        """Advance the pod to now."""
        if self.absence is not None and self.absence.is_reboot:
            self._reboot(self.awake)
        is_restarting = self._is_restarted()
        self.end = self._ended_by(eviction)
        if self.end is None and not is_restarting:
            self.end = self._ended_by_init() or self._ended_by_itself()
        if self.end is not None:
            self._stop(self.end)
            return
        if is_restarting:
            whole_restart.begin_anew(self.containers)
            return
        let_replace(self.containers.all, self.before.get("conditions") or ())
        self._advance(whole_restart.begin_of(self.before) if self.restartable else self._begin())
        if self.restartable and whole_restart.is_asked_for(self.containers):
            whole_restart.kill_all(self.containers, self.now)
            self.restarting = True
        elif (end := self._ended_by_itself()) is not None:
            self.end = end
            self._stop(end)

    def _reboot(self, at: float) -> None:
        if reboot.befall(self.containers, at):
            self.events.append(reboot.SANDBOX_CHANGED)

    def _advance(self, begin: float) -> None:
        since: float | None = begin
        for each in self.containers.init:
            each.advance(self.now, since)
            since = each.done_at if since is not None and each.is_done else None
        if self.containers.has_begun():
            since = begin if since is None else since
        for each in self.containers.regular:
            each.advance(self.now, since)
        for each in self.containers.debuggers if self._sandbox_at() <= self.now else ():
            each.advance(self.now, self.containers.arrived[each.name] - each.program.start)

    def outcome(self, place: NodeOffer) -> PodOutcome:
        """Return the outcome."""
        status = self.status(place)
        events = (*self.events, *(event for each in self.containers.every for event in each.events))
        return PodOutcome(
            status=None if status == self.before else status,
            annotations=self._annotations(place),
            due=min(self._dues(status)),
            events=events,
            memory=self.containers.memory(self.now),
            strikes=self.containers.runs.strikes(),
            ignored=place.hits.ignored,
            useless=place.useless,
        )

    def status(self, place: NodeOffer) -> Json:
        """Return the status of the pod as it is now."""
        phase, is_last = self._found_phase(), self._is_last()
        status = dict(self.before)
        if generation := self.meta.get("generation"):
            status["observedGeneration"] = generation
        status["phase"] = self._visible(phase, is_last=is_last)
        has_sandbox = not is_last and self._has_sandbox(phase)
        conditions = conditions_of(
            self.pod,
            self.containers.all,
            phase,
            self.now,
            has_sandbox=has_sandbox,
            is_restarting=self.restarting if self.restartable else None,
        )
        status["conditions"] = conditions
        if is_last:
            self._conclude(status)
        resizing = resize(self.containers.all, conditions, self.meta, self.now)
        self.events += resizing.events
        status["conditions"] = resizing.conditions
        status |= addresses_of(place, has_pod=self._has_address())
        if place.devices and place.shows_devices:
            self._show(place.devices)
        status["containerStatuses"] = [resizing.status(each) for each in self.containers.regular]
        if self.containers.init:
            status["initContainerStatuses"] = [
                resizing.status(each) for each in self.containers.init
            ]
        if debuggers := self.containers.debuggers:
            status[EPHEMERAL.statuses] = [each.status for each in debuggers]
        self.resizing = resizing.is_in_progress and not resizing.waits
        return status

    def _annotations(self, place: NodeOffer) -> Mapping[str, str] | None:
        found = self.containers.runs.annotations()
        if place.devices and not place.shows_devices:
            found = {**(annotation_of(self.pod, place.devices) or {}), **found}
        return found or None

    def _show(self, devices: Devices) -> None:
        """Write the devices of the containers into their statuses."""
        found = by_container(devices)
        for each in self.containers.all:
            if each.name in found:
                each.status[DEVICES_FIELD] = found[each.name]

    def _found_phase(self) -> str:
        """Return the phase that follows from the containers, and from why the pod ends."""
        reason = self.end.reason if self.end is not None else ""
        if reason == EVICTED and self.containers.any_running():
            return str(self.before.get("phase") or "Pending")
        found = phase_of(self.containers.all, has_ended=self.has_ended)
        if reason == EVICTED:
            return found if found == "Succeeded" else "Failed"
        if self.before.get("phase") == "Running" and found == "Pending":
            return "Running"  # restarted as a whole
        if self.restarting:
            return str(self.before.get("phase") or "Pending")
        return "Failed" if reason or self.before.get("phase") == "Failed" else found

    def _visible(self, phase: str, *, is_last: bool) -> str:
        """Return the phase that is written: a terminal one is the last that a pod gets."""
        if is_last:
            return phase if phase in FINAL else "Failed"
        return str(self.before.get("phase") or "Pending") if phase in FINAL else phase

    def _is_last(self) -> bool:
        """Return whether the pod reaches a terminal phase now: one write after its conditions said so."""
        if not self.has_ended or self.containers.any_running():
            return False
        return self.end is not None and (not self.end.is_natural or self._is_announced())

    def _is_announced(self) -> bool:
        """Return whether its conditions say already that it is over."""
        conditions = self.before.get("conditions") or ()
        return any(each.get("reason") in TERMINAL.values() for each in conditions)

    def _has_sandbox(self, phase: str) -> bool:
        if (
            phase in FINAL
            and not self.containers.any_running()
            and any(each.is_sidecar for each in self.containers.init)
        ):
            return False
        return self._sandbox_at() <= self.now or self.containers.any_begun()

    def _has_address(self) -> bool:
        is_known = "podIP" in self.before or bool(self.spec.get("hostNetwork"))
        return is_known or any(each.has_tried for each in self.containers.all)

    def _conclude(self, status: Json) -> None:
        """Write what a pod says that does not run any more."""
        if self.end is not None and self.end.reason and status["phase"] == "Failed":
            status["reason"], status["message"] = self.end.reason, self.end.said
        if self.end is not None and self.end.reason == EVICTED:
            at = write_moment(self.now)
            status["conditions"].append(disruption(self.end, self.meta.get("generation"), at))
        if self.containers.is_initialized():
            for each in self.containers.regular:
                each.give_up()

    def _dues(self, status: Json) -> Iterable[float]:
        yield NEVER
        yield from (each.due for each in self.containers.every)
        if status["phase"] in FINAL:
            is_over = not self.containers.any_running() and self.held is None
            if is_over and "deletionTimestamp" in self.meta:
                yield self.now
            return
        if self._sandbox_at() > self.now:
            yield self._sandbox_at()
        is_between = self.resizing or self.restarting or self._is_restarted()
        if is_between or (self.has_ended and not self.containers.any_running()):
            yield self.now
        deadline = deadline_of(self.pod, self.before)
        if deadline is not None and deadline > self.now:
            yield deadline

    def _begin(self) -> float:
        return read_moment(self.before["startTime"])

    def _is_restarted(self) -> bool:
        return self.restartable and whole_restart.is_under_way(self.before)

    def _sandbox_at(self) -> float:
        return self._begin() + _SANDBOX

    def _ended_by(self, eviction: Eviction | None) -> PodEnd | None:
        """Return why all containers have got the signal to end; None if they have not."""
        end = end_of(self.pod, self.before, self.now, self.grace, eviction)
        if end is not None:
            end = self._awaited(end)
            self._report(end)
            if self.held is not None and "deletionTimestamp" in self.meta:
                return replace(end, at=NEVER)
        return end

    def _awaited(self, end: PodEnd) -> PodEnd:
        """Delay the signal to a pod until its kubelet is back."""
        return replace(end, at=self.awake) if self.awake and end.at < self.awake else end

    def _ended_by_init(self) -> PodEnd | None:
        first = [each for each in self.containers.init if not each.is_sidecar]
        if any(each.is_over and not each.is_done for each in first):
            return PodEnd(at=self.now, grace=self.grace, is_natural=True)
        return None

    def _ended_by_itself(self) -> PodEnd | None:
        if not all(each.is_over for each in self.containers.regular):
            return None
        over = PodEnd(at=self.containers.over_at(self.now), grace=self.grace, is_natural=True)
        return self._awaited(over)

    def _report(self, end: PodEnd) -> None:
        """Report once why it ends, and that its containers have to."""
        if end.reason and not end.is_reported(self.reported, is_announced=self._is_announced()):
            self.events.append(end.event)
        elif end.reason or self.before.get("observedGeneration") == self.meta.get("generation"):
            return
        for each in self.containers.every:
            each.note_stopping()
        if self.held is not None:
            self.events.append(not_ending(self.held.message))

    def _stop(self, end: PodEnd) -> None:
        """End the regular containers, then the sidecars; the last to start ends first.

        A kubelet writes nothing meanwhile: what has ended is shown when all have.
        """
        shown = [dict(each.status) for each in self.containers.every]
        for each in self.containers.every:
            if not each.is_sidecar:
                each.stop(self.now, end.at, end.grace)
        if not any(each.running for each in self.containers.regular):
            self._stop_sidecars(
                max(
                    end.at,
                    self.containers.over_at(self.now) if self.containers.has_begun() else end.at,
                ),
                end,
            )
        self.has_ended = not self.containers.any_running()
        if not self.has_ended:
            for each, status in zip(self.containers.every, shown, strict=True):
                each.status = status

    def _stop_sidecars(self, at: float, end: PodEnd) -> None:
        for each in reversed([each for each in self.containers.init if each.is_sidecar]):
            if end.is_natural and each.reported <= end.at <= self.now:
                each.note_stopping()
            each.stop(self.now, at, end.grace)
            if each.running:
                return
            if each.ended and "finishedAt" in each.ended:
                at = max(at, read_moment(each.ended["finishedAt"]))
