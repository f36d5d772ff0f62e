"""Gives pods the life that a kubelet gives them, with the queue and the delays of Stages.

Pods live by the same rules as all others of their cluster unless an annotation says otherwise.
"""

import re
from collections.abc import Callable, Collection, Mapping

from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.engine.conduct_turn import ConductTurn
from kwokctl.controller.engine.decoded import UNKNOWN
from kwokctl.controller.engine.object_events import warning_of
from kwokctl.controller.engine.object_state import ObjectState, WrittenObject, answered
from kwokctl.controller.engine.turns import NEVER
from kwokctl.controller.lifecycle.driver_stand_in import DriverStandIn, UnpreparedError
from kwokctl.controller.lifecycle.looks import PodLooks
from kwokctl.controller.lifecycle.outcome import PodOutcome
from kwokctl.controller.lifecycle.pod_events import EventCounts, PodEvent
from kwokctl.controller.lifecycle.pod_faults.gang_spreader import GangSpreader
from kwokctl.controller.lifecycle.pod_faults.ignored_faults import OF_ANNOTATION, IgnoredFaults
from kwokctl.controller.lifecycle.statuses import has_started, status_patch
from kwokctl.controller.object_warnings import ObjectWarnings
from kwokctl.controller.stages.lives import KUBELET, LIFE, STAGES
from kwokctl.dataplane.events.object_event import ObjectEvent
from kwokctl.dataplane.port import ObjectKey
from kwokctl.kube.resource import PODS

_LABEL = re.compile(rb'"([a-z0-9.-]+\.stage\.kwok\.x-k8s\.io)":"true"')
"""As the API server writes it: annotations of Stages have a slash behind that."""
_REASON = "LabelIgnored"


class IgnoredLabels:
    """The pods that were warned of; most have no such label, and cost one look at their bytes."""

    def __init__(self, warnings: ObjectWarnings, wall: Callable[[], float]) -> None:
        self._warnings = warnings
        self._wall = wall
        self._told: set[str] = set()

    def look(self, state: ObjectState) -> None:
        """Warn of a pod, once."""
        if state.raw is None or state.uid in self._told:
            return
        if (found := _LABEL.search(state.raw)) is not None:
            self._told.add(state.uid)
            self._warnings.put(self._event(state, found[1].decode()))

    def forget(self, uid: str) -> None:
        """Note that a pod is gone."""
        self._told.discard(uid)

    def _event(self, state: ObjectState, label: str) -> ObjectEvent:
        message = (
            f"The label '{label}' is for a Stage, which does not play a pod that lives as on a kubelet: "
            f"annotate it with '{LIFE}: {STAGES}', or say what its containers do with "
            "'kwokctl.dev/program'"
        )
        return warning_of(PODS, state, reason=_REASON, message=message, at=self._wall())


_COMPONENT = "kubelet"
_UNPREPARED = "FailedPrepareDynamicResources"
_PREPARES_AGAIN = 10.0
"""Seconds after which a kubelet tries again to prepare the claims of a pod, as backOffPeriod in pkg/kubelet."""


class WrittenPod(WrittenObject, frozen=True, kw_only=True):
    """A pod as it was written."""

    outcome: PodOutcome
    is_as_written: bool = True
    """Whether the pod is exactly as the outcome demands."""


class KubeletLife:
    """The conduct of pods that live as on a kubelet."""

    turn = ConductTurn("kubelet")

    def __init__(
        self, looks: PodLooks, context: ControllerContext, lives: Mapping[str, str], *, usual: str
    ) -> None:
        """Write what `looks` find out.

        `lives` has the annotations of pods that choose between KUBELET and Stages, by uid; `usual` is the choice
        for all other pods.
        """
        self._looks = looks
        self._context = context
        self._direct = context.plane.direct
        self._lives = lives
        self._usual = usual
        self._stand_in = DriverStandIn(context)
        self._gangs = GangSpreader(context)
        self.ignored_faults = IgnoredFaults(context.warnings, context.wall)
        self._event_counts = EventCounts()
        self._ignored_labels = IgnoredLabels(context.warnings, context.wall)
        self._found: dict[str, tuple[int, PodOutcome]] = {}
        """The outcome of the last look at a pod that has to be written at once, with the pod's version."""

    def concerns(self, state: ObjectState) -> bool:
        """Return whether a pod lives as on a kubelet."""
        return self._lives.get(state.uid, self._usual) == KUBELET

    def look(self, state: ObjectState) -> float:
        """Return in how many seconds a pod changes next."""
        self._ignored_labels.look(state)
        self._looks.count_in(state)
        if self._looks.awaits_devices(state) or self._looks.awaits_claims(state):
            return 0.0  # given when it is played: then the node's other pods are known
        outcome = self._looks.outcome(state)
        if outcome.ignored:
            self.ignored_faults.tell(state, outcome.ignored)
        if outcome.useless:
            self.ignored_faults.tell(state, outcome.useless, OF_ANNOTATION)
        wait = outcome.due - self._context.wall()
        if not outcome.is_change and wait > 0:
            return wait
        self._found[state.uid] = state.version, outcome
        return 0.0

    def put_off(self, state: ObjectState) -> None:
        """Let a pod be looked at again when its turn comes."""
        self._found.pop(state.uid, None)

    async def play(self, state: ObjectState) -> WrittenPod:
        """Write what a pod has become."""
        drivers = self._looks.awaits_claims(state)
        if drivers and (waiting := await self._prepared(state, drivers)) is not None:
            return waiting
        version, outcome = self._found.pop(state.uid, (UNKNOWN, None))
        if outcome is None or version != state.version:
            outcome = self._looks.outcome(state)
        if self._looks.is_last(outcome):
            # As soon as this is written the scheduler may bind another pod to what this one had.
            self._looks.release(state)
        if outcome.strikes:
            await self._gangs.spread(state.opened(), state.node, outcome.strikes)
        target = ObjectKey(PODS, state.namespace or None, state.name)
        return await self._store(state, target, outcome) or await self._patch(
            state, target, outcome
        )

    async def report(self, state: ObjectState, written: WrittenPod) -> float | None:
        """Remember what was written, report it, and delete a pod that is over."""
        outcome, plane = written.outcome, self._context.plane
        value = state.opened() if outcome.deletes else None
        self._looks.remember(state, outcome)
        if outcome.events:
            await self._report(written, state)
        if outcome.deletes:
            target = ObjectKey(PODS, state.namespace or None, state.name)
            await plane.delete(target, grace_seconds=0, uid=state.uid, current=value)
            return NEVER
        return max(0.0, outcome.due - self._context.wall()) if written.is_as_written else None

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
        self.ignored_faults.forget(state.uid)
        self._looks.forget(state)

    async def _prepared(self, state: ObjectState, drivers: Collection[str]) -> WrittenPod | None:
        """Let the claims of a pod be prepared; return that it waits if they cannot be yet."""
        pod = state.opened()
        try:
            self._looks.prepared(state, await self._stand_in.prepare(pod, drivers))
        except UnpreparedError as e:
            if has_started(pod):  # it runs, whatever has become of its claims
                self._looks.prepared(state, ())
                return None
            message = f"Failed to prepare dynamic resources: {e}"
            event = PodEvent(type="Warning", reason=_UNPREPARED, message=message)
            outcome = PodOutcome(due=self._context.wall() + _PREPARES_AGAIN, events=(event,))
            return WrittenPod(state.version, outcome=outcome)
        return None

    async def _store(
        self, state: ObjectState, target: ObjectKey, outcome: PodOutcome
    ) -> WrittenPod | None:
        """Write a pod as a plan has made it; None, with nothing done, if it must be looked at by itself."""
        if outcome.form is None or self._direct is None:
            return None
        stored = outcome.form.stored()
        revision = await self._direct.store_whole(target, stored, state.version)
        if revision is None:
            return None
        self._context.metrics.count("kwok_controller_writes_total", verb="patch")
        return WrittenPod(revision, form=outcome.form, outcome=outcome)

    async def _patch(
        self, state: ObjectState, target: ObjectKey, outcome: PodOutcome
    ) -> WrittenPod:
        """Write the status of a pod, if it has changed."""
        if outcome.form is not None:
            outcome = self._looks.by_itself(state)
        if outcome.status is None and outcome.annotations is None:
            return WrittenPod(state.version, outcome=outcome)
        value = state.opened()
        patch = status_patch(value, outcome.status or {}, outcome.annotations)
        answer = await self._context.plane.patch(target, patch, current=value)
        self._context.metrics.count("kwok_controller_writes_total", verb="patch")
        after = answered(answer)
        is_as_written = answer.get("status") is (patch.result or {}).get("status")
        return WrittenPod(after.version, value=answer, outcome=outcome, is_as_written=is_as_written)

    async def _report(self, written: WrittenPod, state: ObjectState) -> None:
        """Write Events, those that are alike as one."""
        for event in written.outcome.events:
            now = self._context.wall()
            if counted := self._event_counts.count(state.uid, event, now):
                about = self._event(event, state, str(written.version), now, *counted)
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
