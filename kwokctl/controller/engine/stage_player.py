"""Plays a Stage on one object: with plans as far as there are any, else step by step."""

from collections.abc import Mapping

from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.engine.object_state import ObjectState, WrittenObject, answered
from kwokctl.controller.engine.plan_player import PlanPlayer
from kwokctl.controller.engine.step_player import StepPlayer
from kwokctl.controller.plans.plans import Plans
from kwokctl.controller.stages.compiled_stage import Stage
from kwokctl.dataplane.port import ObjectKey
from kwokctl.kube.resource import Resource


class StagePlayer:
    """Plays the steps of Stages."""

    def __init__(self, resource: Resource, context: ControllerContext, plans: Plans | None) -> None:
        """Play on the objects of a resource; `plans` has the plans for their shapes."""
        plane, metrics, wall = context.plane, context.metrics, context.wall
        direct = plane.direct
        self._resource = resource
        self._steps = StepPlayer(plane, context.reader, metrics, wall)
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
