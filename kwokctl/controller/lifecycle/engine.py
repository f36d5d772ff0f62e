"""Gives all pods the life that a kubelet gives them, with the queue and the delays of Stages."""

from collections.abc import Mapping
from typing import Any

from kwokctl.controller.context import ControllerContext
from kwokctl.controller.engine import patches
from kwokctl.controller.engine.engine import StageEngine
from kwokctl.controller.engine.hooks import Hooks
from kwokctl.controller.engine.object_state import ObjectState
from kwokctl.controller.lifecycle.container import NEVER
from kwokctl.controller.lifecycle.events import PodEvent
from kwokctl.controller.lifecycle.pod import NodeOffer, PodOutcome, sync
from kwokctl.controller.stages.model import POD, Stage
from kwokctl.controller.write_errors import ErrorKind
from kwokctl.dataplane.events.object_event import ObjectEvent
from kwokctl.dataplane.port import ObjectKey, Patch
from kwokctl.errors import ExpressionError
from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType
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

    def __init__(self, hooks: Hooks[Any], context: ControllerContext, *, players: int) -> None:
        """Write the statuses of `players` pods at a time."""
        super().__init__(PODS, (_LIFE,), hooks, context, players=players)
        self._levels: dict[str, Mapping[str, int]] = {}

    def _remove(self, state: ObjectState) -> None:
        self._levels.pop(state.uid, None)
        super()._remove(state)

    def _look(self, state: ObjectState) -> None:
        """Find out when the pod changes next."""
        if not state.is_known:
            return
        try:
            outcome = self._outcome(state)
        except ExpressionError as e:
            self._errors.log_unmatched(_LIFE, state.key, e)
            self._stop(state)
            return
        delay = self._delay(state, outcome)
        if delay == NEVER:
            self._stop(state)
            return
        state.stage = _LIFE
        if delay > 0:
            state.fold()
        self._soon(state, delay)

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
        outcome = self._outcome(state)
        target = ObjectKey(PODS, state.namespace or None, state.name)
        value = state.opened()
        if outcome.status is not None:
            answer = await self._context.plane.patch(
                target, _patch(value, outcome.status), current=value
            )
            self._context.metrics.count("kwok_controller_writes_total", verb="patch")
            if answer is not None:
                value = answer
                state.take(answer)
        self._levels[state.uid] = outcome.levels
        for event in outcome.events:
            await self._context.plane.record(self._event(event, state, value))
        if outcome.deletes:
            await self._context.plane.delete(target, grace_seconds=0, uid=state.uid, current=value)
            state.rest()

    def _after(self, state: ObjectState, stage: Stage, version: int) -> None:
        """Look again: the end of one change is the time from which the next one counts."""
        if self._is_ours(state):
            state.due = self._context.delay_queue.now()
            state.stage, state.setbacks = None, None
            self._look(state)

    def _try_next(self, state: ObjectState) -> None:
        """Try the same again: there are no other Stages."""
        self._wait(state, ErrorKind.LASTING if state.setbacks is None else state.setbacks.outcome)

    def _outcome(self, state: ObjectState) -> PodOutcome:
        levels = self._levels.get(state.uid, {})
        return sync(state.opened(), levels, self._context.wall(), self._place(state))

    def _place(self, state: ObjectState) -> NodeOffer:
        functions: Mapping[str, Any] = self._hooks.functions(state)
        value = state.opened()
        is_host = bool(value["spec"].get("hostNetwork"))
        pod = (state.node, is_host, state.uid, state.name, state.namespace)
        return NodeOffer(
            host_ips=functions["NodeIPsWith"](state.node), pod_ips=functions["PodIPsWith"](*pod)
        )

    def _event(self, event: PodEvent, state: ObjectState, value: Json) -> ObjectEvent:
        return ObjectEvent(
            resource=PODS,
            about_namespace=state.namespace,
            about=state.name,
            uid=state.uid,
            version=value["metadata"]["resourceVersion"],
            type=event.type,
            reason=event.reason,
            message=event.message,
            component=_COMPONENT,
            at=self._context.wall(),
        )


def _patch(value: Json, status: Json) -> Patch:
    """Replace the parts of the status that are others now."""
    before = value.get("status") or {}
    changed = {name: part for name, part in status.items() if before.get(name) != part}
    document = patches.with_uid({"status": changed}, value["metadata"]["uid"], PatchType.MERGE)
    result = patches.result_of(value, {"status": changed}, PatchType.MERGE, PODS.kind)
    return Patch(document=document, type=PatchType.MERGE, subresource="status", result=result)
