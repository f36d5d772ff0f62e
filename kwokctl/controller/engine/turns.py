"""Finds the conducts of objects, and the times of their turns."""

from collections.abc import Sequence
from typing import Any

from kwokctl.controller.engine.conduct import NEVER, Conduct
from kwokctl.controller.engine.conduct_turn import ConductTurn
from kwokctl.controller.engine.object_state import ObjectState
from kwokctl.controller.write_errors import ErrorLog
from kwokctl.errors import ExpressionError


class ConductTurns:
    """Some conducts, of which an object follows the first that concerns it."""

    def __init__(self, conducts: Sequence[Conduct[Any]], errors: ErrorLog) -> None:
        """Report to `errors` what conducts cannot read."""
        self._conducts = tuple(conducts)
        self._errors = errors
        self.by_turn: dict[ConductTurn, Conduct[Any]] = {each.turn: each for each in conducts}
        """The conducts by their turns."""

    def of(self, state: ObjectState) -> ConductTurn | None:
        """Return the turn of the conduct that applies to an object; None if Stages do."""
        for conduct in self._conducts:
            if conduct.concerns(state):
                return conduct.turn
        return None

    def wait(self, state: ObjectState, turn: ConductTurn) -> float:
        """Return the seconds until an object changes next; NEVER if its conduct cannot read that."""
        try:
            return self.by_turn[turn].look(state)
        except ExpressionError as e:
            self._errors.log_unmatched(turn, state.key, e)
            return NEVER

    def forget(self, state: ObjectState) -> None:
        """Note that an object does not exist any more."""
        for conduct in self._conducts:
            conduct.forget(state)
