"""The protocol for what changes some objects of a kind in place of Stages."""

import math
from typing import Protocol, TypeVar

from kwokctl.controller.engine.conduct_turn import ConductTurn
from kwokctl.controller.engine.object_state import ObjectState, WrittenObject

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
