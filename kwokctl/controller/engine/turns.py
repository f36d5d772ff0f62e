"""The turns of objects that follow a conduct in place of Stages."""

import math
from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

from kwokctl.controller.engine.conduct_turn import ConductTurn
from kwokctl.controller.engine.object_state import ObjectState, WrittenObject
from kwokctl.controller.write_errors import ErrorLog
from kwokctl.errors import ExpressionError

NEVER = math.inf
"""The delay of an object that is left alone until it is seen again."""
W = TypeVar("W", bound=WrittenObject)


class Conduct(Protocol[W]):
    """Takes the place of Stages for some objects: it selects them, and changes them at its times."""

    turn: ConductTurn
    """The turn for which its objects wait."""

    def concerns(self, state: ObjectState) -> bool:
        """Return whether it applies to an object now."""
        ...

    def look(self, state: ObjectState) -> float:
        """Return the seconds until an object changes next; ExpressionError if they cannot be computed."""
        ...

    def put_off(self, state: ObjectState) -> None:
        """Note that an object that could change at once has to wait, and may be changed by others until then."""
        ...

    async def play(self, state: ObjectState) -> W:
        """Change an object; return the result. Raises RequestError when the cluster refuses."""
        ...

    async def report(self, state: ObjectState, written: W) -> float | None:
        """Report what `play` has done; return the seconds until the object changes next.

        None if `look` has to tell. Raises RequestError when the cluster refuses.
        """
        ...

    def after(self, state: ObjectState) -> None:
        """Note that an object is in the state that `play` should bring about."""
        ...

    def leave(self, state: ObjectState) -> None:
        """Note that it does not apply any more to an object that has waited for its turn."""
        ...

    def forget(self, state: ObjectState) -> None:
        """Note that an object does not exist any more."""
        ...


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
