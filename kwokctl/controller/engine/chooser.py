"""Finds the Stages that match an object, and their delays."""

from collections.abc import Sequence

from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.engine.object_state import ObjectState
from kwokctl.controller.engine.rests import StageRests
from kwokctl.controller.plans import Plans, View
from kwokctl.controller.stages.compiled_stage import Stage
from kwokctl.controller.stages.matcher import Matcher
from kwokctl.controller.stages.stage_choice import (
    Basis,
    basis_of_sound,
    grounds,
    seconds,
    unread_delay,
)
from kwokctl.controller.stages.stage_places import takes_too_long
from kwokctl.controller.write_errors import ErrorLog
from kwokctl.errors import ExpressionError
from kwokctl.json_value import Json
from kwokctl.kube.stored_json import ObjectInJson


class StageChooser:
    """Matches Stages with the objects of a kind; a Stage whose selector fails is reported and left out."""

    def __init__(self, context: ControllerContext, errors: ErrorLog, plans: Plans | None) -> None:
        """Report errors of expressions to `errors`; `plans` knows the shapes of objects."""
        self._plans = plans
        self._context = context
        self._errors = errors
        self._matcher = Matcher(())
        self._rests = StageRests(context.random)
        self._has_put_off = False

    def grounds(self, stages: Sequence[Stage], state: ObjectState) -> Basis:
        """Return the Stages that match an object now, and the values on which the choice depends."""
        self._has_put_off = False
        view = self._view(stages, state)
        if view is not None:
            return view.basis
        value = self._beneath(state)
        awake = self._rests.awake(stages, self._context.delay_queue.now())
        self._has_put_off = awake is not stages
        if not self._has_put_off:
            try:
                return grounds(self._matcher_of(stages).matches(value), value)
            except ExpressionError:
                pass  # evaluating the Stages one by one shows which of them has failed
        return basis_of_sound(awake, value, lambda *why: self._report(state.key, *why))

    def has_put_off(self) -> bool:
        """Return whether the last match has left out a Stage because it rests."""
        return self._has_put_off

    def delay(self, stages: Sequence[Stage], state: ObjectState, stage: Stage) -> float:
        """Return the delay of a Stage for an object, in seconds."""
        context = self._context
        view = self._view(stages, state)

        def unread(field: str, found: Json) -> None:
            self._errors.log_unread(stage, field, state.key, unread_delay(found))

        if view is not None and stage in view.delays:
            return seconds(view.delays[stage], None, context.wall(), context.random, unread)
        return seconds(stage.delay, self._beneath(state), context.wall(), context.random, unread)

    def _beneath(self, state: ObjectState) -> ObjectInJson:
        """Return an object as Stages see it: without what faults show of it."""
        return self._context.faults.beneath(state.opened())

    def _view(self, stages: Sequence[Stage], state: ObjectState) -> View | None:
        """Return the view that Stages have of an object's shape; None if the object must be matched by itself."""
        if self._plans is None or state.form is None:
            return None
        return self._plans.view(state.form, stages)

    def _matcher_of(self, stages: Sequence[Stage]) -> Matcher:
        if self._matcher.stages is not stages:
            self._matcher = Matcher(stages)
        return self._matcher

    def _report(self, key: str, stage: Stage, error: ExpressionError) -> None:
        self._context.metrics.count("kwok_controller_failed_matches_total", stage=stage.name)
        if takes_too_long(error):
            self._rests.note(stage, self._context.delay_queue.now())
        self._errors.log_unmatched(stage, key, error)
