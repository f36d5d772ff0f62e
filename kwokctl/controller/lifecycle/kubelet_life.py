"""Gives pods the life that a kubelet gives them, with the queue and the delays of Stages.

Pods live by the same rules as all others of their cluster unless an annotation says otherwise.
"""

from typing import NamedTuple

from kwokctl.controller.context import ControllerContext
from kwokctl.controller.engine.decoded import UNKNOWN
from kwokctl.controller.engine.object_state import ObjectState
from kwokctl.controller.lifecycle.event_counts import EventCounts
from kwokctl.controller.lifecycle.events import PodEvent
from kwokctl.controller.lifecycle.ignored_labels import IgnoredLabels
from kwokctl.controller.lifecycle.looks import PodLooks
from kwokctl.controller.lifecycle.outcome import PodOutcome
from kwokctl.controller.lifecycle.statuses import status_patch
from kwokctl.controller.plans.plans import Plans
from kwokctl.controller.stages.lives import KUBELET
from kwokctl.controller.stages.model import POD, Stage
from kwokctl.dataplane.events.object_event import ObjectEvent
from kwokctl.dataplane.port import ObjectKey, Patch
from kwokctl.json_value import Json
from kwokctl.kube.resource import PODS

_COMPONENT = "kubelet"


class _Change(NamedTuple):
    """A change that was written to a pod."""

    outcome: PodOutcome
    version: str
    """The resourceVersion of the pod then."""
    is_as_written: bool = True
    """Whether the pod is exactly what the outcome was to make of it."""


class KubeletLife:
    """The conduct of pods that live as on a kubelet."""

    def __init__(
        self, looks: PodLooks, context: ControllerContext, plans: Plans | None, *, usual: str
    ) -> None:
        """Write what `looks` find out; pods that are alike are known to `plans`.

        `usual` is how pods without an annotation live: KUBELET, or by Stages.
        """
        self.turn = Stage(name="kubelet", kind=POD, selector=None, steps=())
        self._looks = looks
        self._context = context
        self._direct = context.plane.direct
        self._plans = plans
        self._usual = usual
        self._event_counts = EventCounts()
        self._ignored_labels = IgnoredLabels(context.warnings, context.wall)
        self._found: dict[str, tuple[int, PodOutcome]] = {}
        """The outcome of the last look at a pod that has to be written at once, with the pod's version."""

    def concerns(self, state: ObjectState) -> bool:
        """Return whether a pod lives as on a kubelet."""
        return (state.life or self._usual) == KUBELET

    def look(self, state: ObjectState) -> float:
        """Return in how many seconds a pod changes next."""
        self._ignored_labels.look(state)
        state.liken(self._plans)
        self._looks.count_in(state)
        outcome = self._looks.outcome(state)
        wait = outcome.due - self._context.wall()
        if not outcome.is_change and wait > 0:
            return wait
        self._found[state.uid] = state.version, outcome
        return 0.0

    def put_off(self, state: ObjectState) -> None:
        """Let a pod be looked at again when its turn comes."""
        self._found.pop(state.uid, None)

    async def play(self, state: ObjectState) -> float | None:
        """Write what a pod has become."""
        version, outcome = self._found.pop(state.uid, (UNKNOWN, None))
        if outcome is None or version != state.version:
            state.liken(self._plans)
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
            return None
        return max(0.0, outcome.due - self._context.wall()) if change.is_as_written else None

    def after(self, state: ObjectState) -> None:
        """Keep what the node of a pod has left for others now."""
        self._looks.count_in(state)

    def leave(self, state: ObjectState) -> None:
        """Leave a pod to the Stages, as its annotation now demands."""
        self._looks.release(state)
        self._found.pop(state.uid, None)

    def forget(self, state: ObjectState) -> None:
        """Note that a pod is gone."""
        self._found.pop(state.uid, None)
        self._event_counts.forget(state.uid)
        self._ignored_labels.forget(state.uid)
        self._looks.forget(state)

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
        """Write the status of a pod, if it has changed."""
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


def _is_result(answer: Json, patch: Patch) -> bool:
    """Return whether a pod is exactly what a patch was to make of it, and not what a server says."""
    result = patch.result or {}
    return answer is not None and answer.get("status") is result.get("status")
