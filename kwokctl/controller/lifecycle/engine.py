"""Gives pods the life that a kubelet gives them, with the queue and the delays of Stages.

Pods live by the same rules as all others of their cluster unless an annotation says otherwise.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from kwokctl.controller.context import ControllerContext
from kwokctl.controller.engine.decoded import UNKNOWN
from kwokctl.controller.engine.engine import StageEngine
from kwokctl.controller.engine.hooks import Hooks
from kwokctl.controller.engine.object_state import ObjectState
from kwokctl.controller.lifecycle.admission.room import NodeRoom
from kwokctl.controller.lifecycle.containers.container import NEVER
from kwokctl.controller.lifecycle.containers.programs import ProgramRules
from kwokctl.controller.lifecycle.event_counts import EventCounts
from kwokctl.controller.lifecycle.events import PodEvent
from kwokctl.controller.lifecycle.ignored_labels import IgnoredLabels
from kwokctl.controller.lifecycle.looks import PodLooks
from kwokctl.controller.lifecycle.outcome import FINAL, Absence, PodOutcome
from kwokctl.controller.lifecycle.reboot import restarted
from kwokctl.controller.lifecycle.statuses import has_started, status_patch
from kwokctl.controller.nodes.registry import NodeRegistry
from kwokctl.controller.plans.plans import Plans
from kwokctl.controller.stages.lives import KUBELET
from kwokctl.controller.stages.model import POD, Stage
from kwokctl.controller.write_errors import ErrorKind
from kwokctl.dataplane.events.object_event import ObjectEvent
from kwokctl.dataplane.port import ObjectKey, Patch
from kwokctl.errors import ExpressionError
from kwokctl.json_value import Json
from kwokctl.kube.resource import PODS

_LIFE = Stage(name="kubelet", kind=POD, selector=None, steps=())
"""What pods wait for here, in place of a Stage."""
_REBOOT = Stage(name="reboot", kind=POD, selector=None, steps=())
"""What pods of Stages wait for whose machine was started anew."""
_AT_ONCE = 8
"""Changes that may follow each other without delay: more are a quarrel with another controller."""
_CALM = 1.0
"""Seconds between the changes after those."""
_COMPONENT = "kubelet"


class _Change(NamedTuple):
    """What has been written of a pod."""

    outcome: PodOutcome
    version: str
    """The resourceVersion of the pod then."""
    is_as_written: bool = True
    """Whether the pod is exactly what the outcome was to make of it."""


class PodEngine(StageEngine):
    """All pods, and when each of them changes next."""

    def __init__(  # noqa: PLR0913 - what all engines get, and what the lives of pods depend on
        self,
        stages: Sequence[Stage],
        hooks: Hooks[Any],
        context: ControllerContext,
        nodes: NodeRegistry,
        *,
        players: int,
        usual: str,
        programs: ProgramRules = (),
    ) -> None:
        """Write the statuses of `players` pods at a time.

        `usual` is how pods without an annotation live: KUBELET, or by `stages`. `programs` say what
        the containers of those do which live as on a kubelet.
        """
        self._direct = context.plane.direct
        plans = Plans(PODS) if context.has_plans and self._direct is not None else None
        super().__init__(PODS, stages, hooks, context, players=players, plans=plans)
        self._usual = usual
        self._looks = PodLooks(hooks, NodeRoom(nodes), context.wall, plans, programs)
        self._event_counts = EventCounts()
        self._ignored_labels = IgnoredLabels(context.warnings, context.wall)
        self._found: dict[str, tuple[int, PodOutcome]] = {}
        """What has come out of the last look at a pod that is to be written at once, by its version."""
        self._written: dict[str, tuple[int, float]] = {}
        """When a pod that has just been written is due next, by its version."""

    def _remove(self, state: ObjectState) -> None:
        self._found.pop(state.uid, None)
        self._event_counts.forget(state.uid)
        self._ignored_labels.forget(state.uid)
        self._looks.forget(state)
        super()._remove(state)

    def may_evict(self, pod: Json) -> bool:
        """Return whether a pod has begun to live here, and has not come to its end."""
        state = self.get(_key(pod))
        is_ours = state is not None and (state.life or self._usual) == KUBELET
        return is_ours and has_started(pod) and pod["status"].get("phase") not in FINAL

    def evict(self, pod: Json, message: str) -> None:
        """Let a pod come to its end."""
        state = self.get(_key(pod))
        if state is None or state.uid != pod["metadata"].get("uid") or state.parked:
            return
        self._looks.evict(state, message)
        if not state.is_known:
            state.value = pod
        self.wake(state.key)

    def back(self, key: str, at: float) -> None:
        """Take note that the kubelet of a pod was away until a time of day; wake the pod then."""
        state = self.get(key)
        if state is None or (state.life or self._usual) != KUBELET:
            return
        if state.parked or state.is_known:  # else nothing was due, and nothing has happened
            self._looks.away(state.uid, Absence(until=at))

    def reboot(self, key: str, at: float) -> None:
        """Take note that the machine of a pod was started anew; read the pod, and wake it then."""
        if (state := self.get(key)) is not None:
            self._looks.away(state.uid, Absence(until=at, is_reboot=True))
            self.park(key)

    def _is_in_force(self, stage: Stage) -> bool:
        return stage is _LIFE or stage is _REBOOT or super()._is_in_force(stage)

    def _look(self, state: ObjectState) -> None:
        """Find out when the pod changes next."""
        if not state.is_known:
            return
        if (state.life or self._usual) == KUBELET:
            self._look_as_kubelet(state)
            return
        if state.stage is _LIFE:
            self._stop_living(state)
        if not self._look_for_reboot(state):
            super()._look(state)

    def _look_for_reboot(self, state: ObjectState) -> bool:
        """Find out whether Stages have to wait until what a reboot has done to a pod was written."""
        absence = self._looks.rebooted(state.uid)
        if absence is None or _is_recovered(state.opened(), absence):
            self._looks.caught_up(state.uid)
            return False
        state.stage, state.basis, state.setbacks = _REBOOT, None, None
        state.step = state.tries = 0
        self._soon(state, 0.0)
        return True

    def _stop_living(self, state: ObjectState) -> None:
        """Leave a pod to the Stages: its annotation is another one now."""
        self._looks.release(state)
        self._found.pop(state.uid, None)
        self._context.delay_queue.forget(state)
        state.stage = None

    def _look_as_kubelet(self, state: ObjectState) -> None:
        self._ignored_labels.look(state)
        self._chooser.liken(state)
        self._looks.count_in(state)
        try:
            outcome = self._looks.outcome(state)
        except ExpressionError as e:
            self._errors.log_unmatched(_LIFE, state.key, e)
            self._stop(state)
            return
        if self._await(state, outcome.due, is_now=outcome.is_change) == 0:
            self._found[state.uid] = state.version, outcome

    def _await(self, state: ObjectState, due: float, *, is_now: bool = False) -> float:
        """Wait until something is due; return how long that is."""
        delay = self._delay(state, due, is_now=is_now)
        if delay == NEVER:
            self._stop(state)
            return delay
        state.stage = _LIFE
        if delay > 0:
            state.fold()
        self._soon(state, delay)
        return delay

    def _delay(self, state: ObjectState, due: float, *, is_now: bool) -> float:
        wait = due - self._context.wall()
        if not is_now and wait > 0:
            return wait
        if self._context.delay_queue.now() - state.due > _CALM:
            state.plays_at_once = 0
        state.plays_at_once += 1
        return _CALM if state.plays_at_once > _AT_ONCE else 0.0

    async def _play(self, state: ObjectState, stage: Stage) -> None:
        """Write what the pod has become."""
        if stage is _REBOOT:
            await self._restart(state)
            return
        if stage is not _LIFE:
            await super()._play(state, stage)
            return
        version, outcome = self._found.pop(state.uid, (UNKNOWN, None))
        if outcome is None or version != state.version:
            self._chooser.liken(state)
            outcome = self._looks.outcome(state)
        target = ObjectKey(PODS, state.namespace or None, state.name)
        value = state.opened() if outcome.deletes else None
        change = await self._store(state, target, outcome)
        if change is None:
            change = await self._patch(state, target, outcome)
        outcome = change.outcome
        self._looks.remember(state, outcome)
        if outcome.events:
            await self._report(change, state)
        if outcome.deletes:
            await self._context.plane.delete(target, grace_seconds=0, uid=state.uid, current=value)
            state.rest()
        elif change.is_as_written:
            self._written[state.uid] = state.version, outcome.due

    async def _restart(self, state: ObjectState) -> None:
        """Write what a reboot has made of a pod of Stages."""
        value, absence = state.opened(), self._looks.rebooted(state.uid)
        if absence is None:
            return
        patch = status_patch(value, restarted(value, absence.until))
        target = ObjectKey(PODS, state.namespace or None, state.name)
        answer = await self._context.plane.patch(target, patch, current=value)
        self._context.metrics.count("kwok_controller_writes_total", verb="patch")
        self._looks.caught_up(state.uid)
        if answer is not None:
            state.take(answer)

    async def _store(
        self, state: ObjectState, target: ObjectKey, outcome: PodOutcome
    ) -> _Change | None:
        """Write a pod as a plan has made it; None, with nothing done, if it must be looked at by itself."""
        if outcome.form is None or self._direct is None:
            return None
        stored = outcome.form.stored()
        revision = await self._direct.store_whole(target, stored, state.version)
        if revision is None:
            return None
        self._context.metrics.count("kwok_controller_writes_total", verb="patch")
        state.follow(outcome.form, revision)
        return _Change(outcome, str(revision))

    async def _patch(self, state: ObjectState, target: ObjectKey, outcome: PodOutcome) -> _Change:
        """Write the status of a pod, if it is another one."""
        if outcome.form is not None:
            outcome = self._looks.by_itself(state)
        elif outcome.status is None and state.form is not None:
            return _Change(outcome, str(state.version))
        value = state.opened()
        if outcome.status is None:
            return _Change(outcome, value["metadata"]["resourceVersion"])
        patch = status_patch(value, outcome.status)
        answer = await self._context.plane.patch(target, patch, current=value)
        self._context.metrics.count("kwok_controller_writes_total", verb="patch")
        if answer is not None:
            value = answer
            state.take(answer)
        return _Change(outcome, value["metadata"]["resourceVersion"], _is_result(answer, patch))

    def _after(self, state: ObjectState, stage: Stage, version: int) -> None:
        """Wait for what is due next; look again if the pod is not what was written.

        The end of one change is the time from which the next one counts.
        """
        written, due = self._written.pop(state.uid, (UNKNOWN, None))
        if stage is _REBOOT and self._is_ours(state):
            state.stage = None
            self._look(state)
        elif stage is not _LIFE:
            super()._after(state, stage, version)
        elif self._is_ours(state):
            state.due = self._context.delay_queue.now()
            state.stage, state.setbacks = None, None
            if due is None or state.news or written != state.version:
                self._look(state)
                return
            self._looks.count_in(state)
            self._await(state, due)

    def _try_next(self, state: ObjectState) -> None:
        """Try the same again: there are no other Stages."""
        if state.stage is not _LIFE and state.stage is not _REBOOT:
            super()._try_next(state)
            return
        self._wait(state, ErrorKind.LASTING if state.setbacks is None else state.setbacks.outcome)

    async def _report(self, change: _Change, state: ObjectState) -> None:
        """Write Events, those that are alike as one."""
        for event in change.outcome.events:
            now = self._context.wall()
            if counted := self._event_counts.count(state.uid, event, now):
                about = self._event(event, state, change.version, now, *counted)
                await self._context.plane.record(about)

    def _event(
        self, event: PodEvent, state: ObjectState, version: str, at: float, first: float, count: int
    ) -> ObjectEvent:
        return ObjectEvent(
            resource=PODS,
            about_namespace=state.namespace,
            about=state.name,
            uid=state.uid,
            version=version,
            field=event.field,
            type=event.type,
            reason=event.reason,
            message=event.message,
            component=_COMPONENT,
            at=at,
            first=first,
            count=count,
        )


def _key(pod: Json) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def _is_recovered(pod: Json, absence: Absence) -> bool:
    """Return whether a reboot makes nothing else of a pod of Stages."""
    return bool(restarted(pod, absence.until) == (pod.get("status") or {}))


def _is_result(answer: Json, patch: Patch) -> bool:
    """Return whether a pod is exactly what a patch was to make of it, and not what a server says."""
    result = patch.result or {}
    return answer is not None and answer.get("status") is result.get("status")
