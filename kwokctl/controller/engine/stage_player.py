"""Plays a Stage on one object: with plans as far as there are any, else step by step."""

from collections.abc import Callable, Mapping
from typing import Any

from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.engine.object_events import about
from kwokctl.controller.engine.object_state import ObjectState, WrittenObject, answered
from kwokctl.controller.engine.step_player import StepPlayer
from kwokctl.controller.plans import Plans, StagePlan
from kwokctl.controller.stages.compiled_stage import Stage
from kwokctl.dataplane.events.object_event import ObjectEvent
from kwokctl.dataplane.port import DirectWriter, ObjectKey
from kwokctl.embedded.process_metrics import Metrics
from kwokctl.kube.resource import Resource


class PlanPlayer:
    """Writes the result of a plan for an object."""

    def __init__(
        self, plans: Plans, direct: DirectWriter, metrics: Metrics, wall: Callable[[], float]
    ) -> None:
        """Write through `direct`; `wall` is the time of day for Events."""
        self._plans = plans
        self._direct = direct
        self._metrics = metrics
        self._wall = wall

    async def play(
        self,
        stage: Stage,
        step: int,
        uid: str,
        target: ObjectKey,
        seen: WrittenObject,
        functions: Mapping[str, Any],
    ) -> tuple[int, WrittenObject] | None:
        """Play the next steps of a Stage; return their number, and the result.

        None, with nothing done, if they must be played one by one. `seen` is the present object.
        Raises RequestError when the cluster refuses.
        """
        form, version = seen.form, seen.version
        assert form is not None
        try:
            found = self._plans.planned(form, stage, step, functions)
        except Exception:  # the error occurs again when the object is played without a plan
            return None
        if found is None:
            return None
        plan, after = found
        event = self._about(plan, uid, target, version)
        revision = await self._direct.store_whole(target, after.stored(), version, event)
        if revision is None:
            return None
        self._count(plan)
        return plan.steps, WrittenObject(revision, form=after)

    def _count(self, plan: StagePlan) -> None:
        if plan.event is not None:
            self._metrics.count("kwok_controller_writes_total", verb="event")
        self._metrics.count("kwok_controller_writes_total", verb="patch")

    def _about(
        self, plan: StagePlan, uid: str, target: ObjectKey, version: int
    ) -> ObjectEvent | None:
        if plan.event is None:
            return None
        return about(plan.event, target, uid, str(version), self._wall())


class StagePlayer:
    """Plays the steps of Stages."""

    def __init__(self, resource: Resource, context: ControllerContext, plans: Plans | None) -> None:
        """Play on the objects of a resource; `plans` has the plans for their shapes."""
        plane, metrics, wall = context.plane, context.metrics, context.wall
        direct = plane.direct
        self._resource = resource
        self._steps = StepPlayer(plane, context.reader, metrics, wall, context.faults)
        self._plans: PlanPlayer | None = None
        if plans is not None and direct is not None:
            self._plans = PlanPlayer(plans, direct, metrics, wall)

    @staticmethod
    def begin(state: ObjectState) -> WrittenObject:
        """Return the object on which the first step is played."""
        if state.form is not None:
            return WrittenObject(state.version, form=state.form)
        return WrittenObject(state.version, value=state.opened())

    async def play(
        self,
        state: ObjectState,
        stage: Stage,
        step: int,
        seen: WrittenObject,
        functions: Mapping[str, object],
    ) -> tuple[int, WrittenObject]:
        """Play the next steps; return their number, and the result.

        `seen` is the result of the previous steps, even if a newer version of the object was seen.
        `functions` are those for templates. Raises RequestError when the cluster refuses, and
        ExpressionError when a template's result cannot be sent.
        """
        target = ObjectKey(self._resource, state.namespace or None, state.name)
        value = seen.value
        if seen.form is not None:
            if self._plans is not None:
                planned = await self._plans.play(stage, step, state.uid, target, seen, functions)
                if planned is not None:
                    return planned
            value = seen.form.opened(seen.version)
        done, answer = await self._steps.play(stage.steps[step:], target, value, functions)
        if answer is None:
            return done, WrittenObject(seen.version, value=value)
        return done, answered(answer)
