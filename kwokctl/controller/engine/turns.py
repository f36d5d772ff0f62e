"""Schedules the changes of objects that a conduct plays in place of Stages."""

from collections.abc import Sequence

from kwokctl.controller.context import ControllerContext
from kwokctl.controller.engine.conduct import NEVER, Conduct
from kwokctl.controller.engine.object_state import ObjectState
from kwokctl.controller.engine.schedule import ObjectSchedule
from kwokctl.controller.stages.model import Stage
from kwokctl.controller.write_errors import ErrorLog
from kwokctl.errors import ExpressionError

_MOST_WITHOUT_DELAY = 8
"""The most turns without delay in a row: with more, another controller probably undoes the changes."""
_CALM = 1.0
"""Seconds between further turns."""


class ConductTurns:
    """Finds the conduct whose turn an object waits for, and the time of the turn."""

    def __init__(
        self,
        conducts: Sequence[Conduct],
        context: ControllerContext,
        schedule: ObjectSchedule,
        errors: ErrorLog,
    ) -> None:
        """Follow the first of `conducts` that concerns an object."""
        self._conducts = tuple(conducts)
        self.by_turn: dict[Stage | None, Conduct] = {each.turn: each for each in conducts}
        """The conducts by their pseudo-Stages."""
        self._context = context
        self._schedule = schedule
        self._errors = errors

    def look(self, state: ObjectState) -> bool:
        """Schedule the next change of an object; False if Stages do that."""
        for conduct in self._conducts:
            if conduct.concerns(state):
                break
        else:
            self._leave(state)
            return False
        if state.stage is not conduct.turn:
            self._leave(state)
        try:
            wait = conduct.look(state)
        except ExpressionError as e:
            self._errors.log_unmatched(conduct.turn, state.key, e)
            self._schedule.stop(state)
        else:
            self._wait(state, conduct, wait)
        return True

    def end(self, state: ObjectState, conduct: Conduct, wait: float | None) -> bool:
        """Schedule the change after this one; False if the object must be examined again.

        The delay of a change counts from the end of the previous one.
        """
        state.due = self._context.delay_queue.now()
        state.stage = state.setbacks = None
        if wait is None or state.news:
            return False
        conduct.after(state)
        self._wait(state, conduct, wait)
        return True

    def forget(self, state: ObjectState) -> None:
        """Note that an object does not exist any more."""
        for conduct in self._conducts:
            conduct.forget(state)

    def _leave(self, state: ObjectState) -> None:
        """Drop the turn that an object waits for if its conduct does not concern it any more."""
        left = self.by_turn.get(state.stage)
        if left is not None:
            left.leave(state)
            self._context.delay_queue.forget(state)
            state.stage = None

    def _wait(self, state: ObjectState, conduct: Conduct, wait: float) -> None:
        if wait == NEVER:
            self._schedule.stop(state)
            return
        delay = wait or self._calm(state)
        if delay > wait:
            conduct.put_off(state)
        if state.stage is not conduct.turn:
            state.stage, state.basis, state.setbacks = conduct.turn, None, None
            state.step = state.tries = 0
        if delay > 0:
            state.fold()
        self._schedule.soon(state, delay)

    def _calm(self, state: ObjectState) -> float:
        """Return the seconds that an object waits that could change at once."""
        if self._context.delay_queue.now() - state.due > _CALM:
            state.plays_at_once = 0
        state.plays_at_once += 1
        return _CALM if state.plays_at_once > _MOST_WITHOUT_DELAY else 0.0
