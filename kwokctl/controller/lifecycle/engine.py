"""Gives pods the life that a kubelet gives them, with the queue and the delays of Stages.

Pods live by the same rules as all others of their cluster unless an annotation says otherwise.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from kwokctl.controller.context import ControllerContext
from kwokctl.controller.engine.decoded import UNKNOWN
from kwokctl.controller.engine.engine import StageEngine
from kwokctl.controller.engine.hooks import Hooks
from kwokctl.controller.engine.object_state import ObjectState
from kwokctl.controller.lifecycle.admission.room import NodeRoom
from kwokctl.controller.lifecycle.containers.container import NEVER
from kwokctl.controller.lifecycle.ends import Eviction
from kwokctl.controller.lifecycle.event_counts import EventCounts
from kwokctl.controller.lifecycle.events import PodEvent
from kwokctl.controller.lifecycle.outcome import FINAL, NodeOffer, PodMemory, PodOutcome
from kwokctl.controller.lifecycle.pod import sync
from kwokctl.controller.lifecycle.statuses import status_patch
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
_AT_ONCE = 8
"""Changes that may follow each other without delay: more are a quarrel with another controller."""
_CALM = 1.0
"""Seconds between the changes after those."""
_COMPONENT = "kubelet"


class PodEngine(StageEngine):
    """All pods, and when each of them changes next."""

    def __init__(
        self,
        stages: Sequence[Stage],
        hooks: Hooks[Any],
        context: ControllerContext,
        nodes: NodeRegistry,
        *,
        players: int,
        usual: str,
    ) -> None:
        """Write the statuses of `players` pods at a time.

        `usual` is how pods without an annotation live: KUBELET, or by `stages`.
        """
        plans = Plans(PODS) if context.plane.past_api else None
        super().__init__(PODS, stages, hooks, context, players=players, plans=plans)
        self._usual = usual
        self._room = NodeRoom(nodes)
        self._memories: dict[str, PodMemory] = {}
        self._event_counts = EventCounts()
        self._evictions: dict[str, Eviction] = {}
        self._found: dict[str, tuple[int, PodOutcome]] = {}
        """What has come out of the last look at a pod that is to be written at once, by its version."""
        self._written: dict[str, tuple[int, PodOutcome]] = {}
        """When a pod that has just been written is due next, by its version."""

    def _remove(self, state: ObjectState) -> None:
        self._memories.pop(state.uid, None)
        self._evictions.pop(state.uid, None)
        self._found.pop(state.uid, None)
        self._event_counts.forget(state.uid)
        self._room.release(state.node, state.uid)
        super()._remove(state)

    def may_evict(self, pod: Json) -> bool:
        """Return whether a pod has begun to live here, and has not come to its end."""
        state = self.get(_key(pod))
        is_ours = state is not None and (state.life or self._usual) == KUBELET
        return is_ours and _has_started(pod) and pod["status"].get("phase") not in FINAL

    def evict(self, pod: Json, message: str) -> None:
        """Let a pod come to its end."""
        state = self.get(_key(pod))
        if state is None or state.uid != pod["metadata"].get("uid") or state.parked:
            return
        self._evictions.setdefault(state.uid, Eviction(at=self._context.wall(), message=message))
        if not state.is_known:
            state.value = pod
        self.wake(state.key)

    def _is_in_force(self, stage: Stage) -> bool:
        return stage is _LIFE or super()._is_in_force(stage)

    def _look(self, state: ObjectState) -> None:
        """Find out when the pod changes next."""
        if not state.is_known:
            return
        if (state.life or self._usual) == KUBELET:
            self._look_as_kubelet(state)
            return
        if state.stage is _LIFE:
            self._stop_living(state)
        super()._look(state)

    def _stop_living(self, state: ObjectState) -> None:
        """Leave a pod to the Stages: its annotation is another one now."""
        self._room.release(state.node, state.uid)
        self._found.pop(state.uid, None)
        self._context.delay_queue.forget(state)
        state.stage = None

    def _look_as_kubelet(self, state: ObjectState) -> None:
        self._count_in(state)
        try:
            outcome = self._outcome(state)
        except ExpressionError as e:
            self._errors.log_unmatched(_LIFE, state.key, e)
            self._stop(state)
            return
        if self._await(state, outcome) == 0:
            self._found[state.uid] = state.version, outcome

    def _await(self, state: ObjectState, outcome: PodOutcome) -> float:
        """Wait until something is due; return how long that is."""
        delay = self._delay(state, outcome)
        if delay == NEVER:
            self._stop(state)
            return delay
        state.stage = _LIFE
        if delay > 0:
            state.fold()
        self._soon(state, delay)
        return delay

    def _delay(self, state: ObjectState, outcome: PodOutcome) -> float:
        wait = outcome.due - self._context.wall()
        is_now = outcome.deletes or outcome.status is not None or bool(outcome.events)
        if not is_now and wait > 0:
            return wait
        if self._context.delay_queue.now() - state.due > _CALM:
            state.plays_at_once = 0
        state.plays_at_once += 1
        return _CALM if state.plays_at_once > _AT_ONCE else 0.0

    async def _play(self, state: ObjectState, stage: Stage) -> None:
        """Write what the pod has become."""
        if stage is not _LIFE:
            await super()._play(state, stage)
            return
        version, outcome = self._found.pop(state.uid, (UNKNOWN, None))
        if outcome is None or version != state.version:
            outcome = self._outcome(state)
        target = ObjectKey(PODS, state.namespace or None, state.name)
        value = state.opened()
        is_as_written = True
        if outcome.status is not None:
            patch = status_patch(value, outcome.status)
            answer = await self._context.plane.patch(target, patch, current=value)
            is_as_written = _is_result(answer, patch)
            self._context.metrics.count("kwok_controller_writes_total", verb="patch")
            if answer is not None:
                value = answer
                state.take(answer)
        self._remember(state, outcome)
        await self._report(outcome, state, value)
        if outcome.deletes:
            await self._context.plane.delete(target, grace_seconds=0, uid=state.uid, current=value)
            state.rest()
        elif is_as_written:
            self._written[state.uid] = state.version, PodOutcome(due=outcome.due)

    def _remember(self, state: ObjectState, outcome: PodOutcome) -> None:
        memory = outcome.memory
        if memory is not None and (memory.levels or outcome.due < NEVER):
            self._memories[state.uid] = memory
        else:
            self._memories.pop(state.uid, None)

    def _after(self, state: ObjectState, stage: Stage, version: int) -> None:
        """Wait for what is due next; look again if the pod is not what was written.

        The end of one change is the time from which the next one counts.
        """
        written, outcome = self._written.pop(state.uid, (UNKNOWN, None))
        if stage is not _LIFE:
            super()._after(state, stage, version)
        elif self._is_ours(state):
            state.due = self._context.delay_queue.now()
            state.stage, state.setbacks = None, None
            if outcome is None or state.news or written != state.version:
                self._look(state)
                return
            self._count_in(state)
            self._await(state, outcome)

    def _try_next(self, state: ObjectState) -> None:
        """Try the same again: there are no other Stages."""
        if state.stage is not _LIFE:
            super()._try_next(state)
            return
        self._wait(state, ErrorKind.LASTING if state.setbacks is None else state.setbacks.outcome)

    def _outcome(self, state: ObjectState) -> PodOutcome:
        memory = self._memories.get(state.uid)
        return sync(state.opened(), memory, self._context.wall(), self._place(state))

    def _place(self, state: ObjectState) -> NodeOffer:
        functions: Mapping[str, Any] = self._hooks.functions(state)
        value = state.opened()
        is_host = bool(value["spec"].get("hostNetwork"))
        pod = (state.node, is_host, state.uid, state.name, state.namespace)
        is_new = not _has_started(value)
        return NodeOffer(
            host_ips=functions["NodeIPsWith"](state.node),
            pod_ips=_own_ips(value, is_host=is_host) or functions["PodIPsWith"](*pod),
            refusal=self._room.refusal(state.node, state.uid, value) if is_new else None,
            eviction=self._evictions.get(state.uid),
        )

    def _count_in(self, state: ObjectState) -> None:
        """Keep what its node has left for others."""
        value = state.opened()
        if not _has_started(value):
            return
        if value["status"].get("phase") in FINAL:
            self._room.release(state.node, state.uid)
        else:
            self._room.note(state.node, state.uid, value)

    async def _report(self, outcome: PodOutcome, state: ObjectState, value: Json) -> None:
        """Write Events, those that are alike as one."""
        for event in outcome.events:
            now = self._context.wall()
            if counted := self._event_counts.count(state.uid, event, now):
                await self._context.plane.record(self._event(event, state, value, now, *counted))

    def _event(
        self, event: PodEvent, state: ObjectState, value: Json, at: float, first: float, count: int
    ) -> ObjectEvent:
        return ObjectEvent(
            resource=PODS,
            about_namespace=state.namespace,
            about=state.name,
            uid=state.uid,
            version=value["metadata"]["resourceVersion"],
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


def _is_result(answer: Json, patch: Patch) -> bool:
    """Return whether a pod is exactly what a patch was to make of it, and not what a server says."""
    result = patch.result or {}
    return answer is not None and answer.get("status") is result.get("status")


def _own_ips(value: Json, *, is_host: bool) -> Sequence[str]:
    """Return the addresses that a pod has, and keeps; none for one with those of its node."""
    if is_host:
        return ()
    return [each["ip"] for each in (value.get("status") or {}).get("podIPs") or ()]


def _has_started(value: Json) -> bool:
    return "startTime" in (value.get("status") or {})
