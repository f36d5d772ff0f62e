"""The protocol for what changes some objects of a kind in place of Stages."""

import math
from typing import Protocol

from kwokctl.controller.engine.object_state import ObjectState
from kwokctl.controller.stages.model import Stage

NEVER = math.inf
"""The delay of an object that is left alone until it is seen again."""


class Conduct(Protocol):
    """Takes the place of Stages for some objects: it selects them, and changes them at its times."""

    turn: Stage
    """The pseudo-Stage for which its objects wait; metrics and logs show its name."""

    def concerns(self, state: ObjectState) -> bool:
        """Return whether it applies to an object now."""
        ...

    def look(self, state: ObjectState) -> float:
        """Return the seconds until an object changes next; ExpressionError if they cannot be computed."""
        ...

    def put_off(self, state: ObjectState) -> None:
        """Note that an object that could change at once has to wait, and may be changed by others until then."""
        ...

    async def play(self, state: ObjectState) -> float | None:
        """Change an object; return the seconds until it changes next, None if `look` has to tell.

        Raises RequestError when the cluster refuses.
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
