"""A way in which some objects of a kind change in place of Stages."""

import math
from typing import Protocol

from kwokctl.controller.engine.object_state import ObjectState
from kwokctl.controller.stages.model import Stage

NEVER = math.inf
"""How long an object waits that is left alone until it is seen again."""


class Conduct(Protocol):
    """Which objects it is for, what happens to them when, and what after that."""

    turn: Stage
    """What its objects wait for: metrics and logs show the name."""

    def concerns(self, state: ObjectState) -> bool:
        """Return whether it is for an object as it is now."""
        ...

    def look(self, state: ObjectState) -> float:
        """Return in how many seconds an object changes next; ExpressionError where that cannot be read."""
        ...

    def put_off(self, state: ObjectState) -> None:
        """Take note that an object that could change at once has to wait: it may be another one then."""
        ...

    async def play(self, state: ObjectState) -> float | None:
        """Change an object; return in how many seconds it changes next, None if that has to be looked at.

        Raises RequestError when the cluster refuses.
        """
        ...

    def after(self, state: ObjectState) -> None:
        """Take note that an object is as `play` was to leave it."""
        ...

    def leave(self, state: ObjectState) -> None:
        """Take note that it is not for an object any more that has waited for its turn."""
        ...

    def forget(self, state: ObjectState) -> None:
        """Take note that an object does not exist any more."""
        ...
