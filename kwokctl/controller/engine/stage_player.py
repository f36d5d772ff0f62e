"""Plays a Stage on one object: with plans as far as there are any, else step by step."""

from collections.abc import Mapping

from kwokctl.controller.context import ControllerContext
from kwokctl.controller.engine.object_state import ObjectState
from kwokctl.controller.engine.plan_player import PlanPlayer
from kwokctl.controller.engine.step_player import StepPlayer
from kwokctl.controller.plans.plans import Plans
from kwokctl.controller.stages.model import Stage
from kwokctl.dataplane.port import ObjectKey
from kwokctl.json_value import Json
from kwokctl.kube.resource import Resource


class StagePlayer:
    """Plays the steps of Stages, each on the result of the previous step."""

    def __init__(self, resource: Resource, context: ControllerContext, plans: Plans | None) -> None:
        """Play on the objects of a resource; `plans` has the plans for their shapes."""
        plane, metrics, wall = context.plane, context.metrics, context.wall
        direct = plane.direct
        self._resource = resource
        self._steps = StepPlayer(plane, context.reader, metrics, wall)
        self._plans: PlanPlayer | None = None
        if plans is not None and direct is not None:
            self._plans = PlanPlayer(plans, direct, metrics, wall)

    async def play(self, state: ObjectState, stage: Stage, functions: Mapping[str, object]) -> None:
        """Play the remaining steps, and note the progress in `state`.

        `functions` are those for templates. Raises RequestError when the cluster refuses, and
        ExpressionError when a template's result cannot be sent.
        """
        target = ObjectKey(self._resource, state.namespace or None, state.name)
        value = await self._play_planned(state, stage, target, functions)
        while steps := stage.steps[state.step :]:
            done, answer = await self._steps.play(steps, target, value, functions)
            if answer is not None:
                value = answer
                state.take(value)
            state.step += done

    async def _play_planned(
        self, state: ObjectState, stage: Stage, target: ObjectKey, functions: Mapping[str, object]
    ) -> Json:
        """Play the first of the remaining steps with plans, as far as there are any.

        Returns the object as it is afterwards, unless no step remains.
        """
        player, form, version = self._plans, state.form, state.version
        if player is None or form is None:
            return state.opened()
        while state.step < len(stage.steps):
            done = await player.play(stage, state, target, (form, version), functions)
            if done is None:
                return form.opened(version)
            form, version = done.form, done.version
            state.follow(form, version)
            state.step += done.steps
        return None
