"""The life of a pod as its kubelet gives it: what its status is now, and when it is next another.

A pure function of the pod, of what is known of its node, and of the time. All but the back-off of
containers is in the status, so that any controller can go on with a pod.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kwokctl.controller.lifecycle import restarts
from kwokctl.controller.lifecycle.conditions import conditions_of
from kwokctl.controller.lifecycle.container import NEVER, PodContainer
from kwokctl.controller.lifecycle.events import PodEvent
from kwokctl.controller.lifecycle.phase import phase_of
from kwokctl.controller.lifecycle.program import program_of
from kwokctl.controller.lifecycle.statuses import fresh_status, with_resources
from kwokctl.expr.duration import format_time, parse_time
from kwokctl.json_value import Json

_FINAL = frozenset(("Succeeded", "Failed"))
_SANDBOX = 0.5
"""Seconds after the start of a pod in which its sandbox is made."""
_DEADLINE = "DeadlineExceeded", "Pod was active on the node longer than the specified deadline"
"""The reason and the message of a pod that has used up `activeDeadlineSeconds`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeOffer:
    """What a node offers to a pod."""

    host_ips: Sequence[str] = ()
    pod_ips: Sequence[str] = ()
    refusal: tuple[str, str] | None = None
    """Reason and message, where the node does not admit the pod."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PodOutcome:
    """What becomes of a pod at a time."""

    status: Json = None
    """Its new status; None if it stays as it is."""
    due: float = NEVER
    """When it has to be looked at again, as a POSIX time stamp."""
    events: tuple[PodEvent, ...] = ()
    deletes: bool = False
    """Whether it is over, and has to be deleted from the API."""
    levels: Mapping[str, int] = field(default_factory=dict)
    """How many starts the back-off of each container counts; to be passed in the next time."""


def sync(pod: Json, levels: Mapping[str, int], now: float, place: NodeOffer) -> PodOutcome:
    """Let happen to a pod what is due by now, one change of each container at most.

    `now` is a POSIX time stamp. Raises ExpressionError where an annotation cannot be read.
    """
    status = pod.get("status") or {}
    is_deleted = "deletionTimestamp" in pod["metadata"]
    if "startTime" not in status:
        return PodOutcome(deletes=True) if is_deleted else _admit(pod, now, place)
    life = _Life({**pod, "status": status}, levels, now)
    if status.get("phase") in _FINAL and not life.any_running():
        return PodOutcome(deletes=is_deleted)
    life.go_on()
    return life.outcome(place)


def _admit(pod: Json, now: float, place: NodeOffer) -> PodOutcome:
    start = {"startTime": format_time(int(now))}
    before = pod.get("status") or {}
    generation = pod["metadata"].get("generation")
    observed = {"observedGeneration": generation} if generation else {}
    if place.refusal is not None:
        reason, message = place.refusal
        failed = {"phase": "Failed", "reason": reason, "message": f"Pod was rejected: {message}"}
        event = PodEvent(type="Warning", reason=reason, message=message)
        status = {**before, **observed, **start, **failed, "conditions": []}
        return PodOutcome(status=status, events=(event,))
    admitted = {**pod, "status": {**before, **start}}
    life = _Life(admitted, {}, now)
    life.go_on()
    return replace(life.outcome(place), status=life.status(place))


class _Life:
    """A pod and its containers, while they are looked at."""

    def __init__(self, pod: Json, levels: Mapping[str, int], now: float) -> None:
        self.pod, self.now = pod, now
        self.spec, self.meta, self.before = pod["spec"], pod["metadata"], pod["status"]
        self.policy = self.spec.get("restartPolicy") or "Always"
        self.grace = float(self.spec.get("terminationGracePeriodSeconds", 30))
        self.events: list[PodEvent] = []
        self.is_past_deadline = self.has_ended = False
        init = self._containers("initContainers", "initContainerStatuses", levels)
        self.init = init
        self.regular = self._containers("containers", "containerStatuses", levels)
        self.all = [*init, *self.regular]

    def any_running(self) -> bool:
        """Return whether a container runs."""
        return any(each.running for each in self.all)

    def go_on(self) -> None:
        """Let happen what is due."""
        if (stopped := self._stopped_at()) is not None:
            self._stop(*stopped)
            return
        since: float | None = parse_time(self.before["startTime"])
        for each in self.init:
            each.advance(self.now, since)
            since = each.done_at if since is not None and each.is_done else None
        if self._has_begun():
            since = parse_time(self.before["startTime"]) if since is None else since
        for each in self.regular:
            each.advance(self.now, since)
        if all(each.is_over for each in self.regular):
            self._stop_sidecars(self._over_at(), self.grace)

    def outcome(self, place: NodeOffer) -> PodOutcome:
        """Return what has become of it."""
        status = self.status(place)
        events = (*self.events, *(event for each in self.all for event in each.events))
        return PodOutcome(
            status=None if status == self.before else status,
            due=min(self._dues(status)),
            events=events,
            levels={each.name: each.level for each in self.all if each.level},
        )

    def status(self, place: NodeOffer) -> Json:
        """Return the status of the pod as it is now."""
        phase = self._phase()
        has_sandbox = phase not in _FINAL and (self._sandbox_at() <= self.now or self._any_begun())
        status = dict(self.before)
        if generation := self.meta.get("generation"):
            status["observedGeneration"] = generation
        status["phase"] = phase
        if self.is_past_deadline:
            status["reason"], status["message"] = _DEADLINE
        status["conditions"] = conditions_of(
            self.pod, self.all, phase, self.now, has_sandbox=has_sandbox
        )
        status |= _addresses(place, has_pod=has_sandbox or "podIP" in self.before)
        status["containerStatuses"] = [with_resources(each) for each in self.regular]
        if self.init:
            status["initContainerStatuses"] = [with_resources(each) for each in self.init]
        return status

    def _phase(self) -> str:
        never_ran = self.has_ended and not self._has_begun()
        if self.is_past_deadline or never_ran or self.before.get("phase") == "Failed":
            return "Failed"
        return phase_of(self.all, has_ended=self.has_ended)

    def _dues(self, status: Json) -> Iterable[float]:
        yield NEVER
        yield from (each.due for each in self.all)
        if status["phase"] in _FINAL:
            if not self.any_running() and "deletionTimestamp" in self.meta:
                yield self.now
            return
        if self._sandbox_at() > self.now:
            yield self._sandbox_at()
        deadline = self._deadline()
        if deadline > self.now:
            yield deadline

    def _containers(
        self, part: str, statuses: str, levels: Mapping[str, int]
    ) -> list[PodContainer]:
        is_init = part == "initContainers"
        known = {each["name"]: each for each in self.before.get(statuses) or ()}
        has_init = bool(self.spec.get("initContainers"))
        annotations = self.meta.get("annotations") or {}
        found = []
        for spec in self.spec.get(part) or ():
            sidecar = is_init and restarts.is_sidecar(spec)
            ends = not sidecar and (is_init or self.policy != "Always")
            status = dict(known.get(spec["name"]) or fresh_status(spec, has_init=has_init))
            found.append(
                PodContainer(
                    spec=spec,
                    program=program_of(spec, annotations, ends=ends),
                    pod=self.meta,
                    policy=self.policy,
                    status=status,
                    is_init=is_init,
                    level=levels.get(spec["name"], status["restartCount"]),
                )
            )
        return found

    def _has_begun(self) -> bool:
        return any(each.running or each.last_end for each in self.regular)

    def _any_begun(self) -> bool:
        return any(each.running or each.last_end for each in self.all)

    def _sandbox_at(self) -> float:
        return parse_time(self.before["startTime"]) + _SANDBOX

    def _deadline(self) -> float:
        seconds = self.spec.get("activeDeadlineSeconds")
        return NEVER if seconds is None else parse_time(self.before["startTime"]) + seconds

    def _over_at(self) -> float:
        """Return when the last regular container has ended."""
        ends = [each.ended.get("finishedAt") for each in self.regular if each.ended]
        return max((parse_time(end) for end in ends if end), default=self.now)

    def _stopped_at(self) -> tuple[float, float] | None:
        """Return when all containers have got the signal to end, and their grace; None if they have not."""
        if deleted := self.meta.get("deletionTimestamp"):
            grace = float(self.meta.get("deletionGracePeriodSeconds") or 0)
            return parse_time(deleted) - grace, grace
        if self.now >= self._deadline():
            self.is_past_deadline = True
            reason, message = _DEADLINE
            if self.before.get("reason") != reason:
                self.events.append(PodEvent(reason=reason, message=message))
            return self._deadline(), self.grace
        if any(each.is_over and not each.is_done and not each.is_sidecar for each in self.init):
            return self.now, self.grace
        return None

    def _stop(self, at: float, grace: float) -> None:
        """End the regular containers, then the sidecars; the last to start ends first."""
        if self.before.get("observedGeneration") != self.meta.get("generation"):
            for each in self.all:
                each.note_stopping()
        for each in self.regular:
            each.stop(self.now, at, grace)
        for each in self.init:
            if not each.is_sidecar:
                each.stop(self.now, at, grace)
        if not any(each.running for each in self.regular):
            self._stop_sidecars(max(at, self._over_at() if self._has_begun() else at), grace)
        if not self.any_running():
            self._conclude()

    def _stop_sidecars(self, at: float, grace: float) -> None:
        for each in reversed([each for each in self.init if each.is_sidecar]):
            each.stop(self.now, at, grace)
            if each.running:
                return
            if each.ended and "finishedAt" in each.ended:
                at = max(at, parse_time(each.ended["finishedAt"]))

    def _conclude(self) -> None:
        """Give every container an end, once the pod has begun to run."""
        self.has_ended = True
        if self._has_begun():
            for each in self.regular:
                each.give_up()


def _addresses(place: NodeOffer, *, has_pod: bool) -> dict[str, Json]:
    found: dict[str, Json] = {}
    if place.host_ips:
        found["hostIP"] = place.host_ips[0]
        found["hostIPs"] = [{"ip": ip} for ip in place.host_ips]
    if has_pod and place.pod_ips:
        found["podIP"] = place.pod_ips[0]
        found["podIPs"] = [{"ip": ip} for ip in place.pod_ips]
    return found
