"""Stages that have taken more steps than an evaluation may: they rest, so that the others go on.

Thousands of objects that each fail would take all of the controller's time. Objects that come to such a
Stage while it rests are put off.
"""

from collections.abc import Callable, Sequence
from random import Random

from kwokctl.controller.stages.model import Stage

REST = 1.0
"""Seconds after a failure, which takes a tenth of that."""
_SPREAD = 30.0
"""Seconds over which the objects that are put off are spread."""


class StageRests:
    """Until when Stages rest."""

    __slots__ = ("_random", "_until")

    def __init__(self, random: Random) -> None:
        """Begin without any."""
        self._random = random
        self._until: dict[Stage, float] = {}

    def note(self, stage: Stage, now: float) -> None:
        """Let a Stage rest: it has just failed."""
        self._until = {each: until for each, until in self._until.items() if until > now}
        self._until[stage] = now + REST

    def holds(self, stage: Stage, now: float) -> bool:
        """Return whether a Stage rests."""
        return bool(self._until) and self._until.get(stage, now) > now

    def awake(self, stages: Sequence[Stage], now: float) -> Sequence[Stage]:
        """Return the Stages that do not rest: the same sequence if none does."""
        if not any(until > now for until in self._until.values()):
            return stages
        return tuple(stage for stage in stages if not self.holds(stage, now))

    def put_off(self) -> float:
        """Return how long an object waits."""
        return REST + self._random.uniform(0, _SPREAD)


class LaterLook:
    """An object that is looked at again when no Stage rests, perhaps."""

    __slots__ = ("_key", "_wake")

    def __init__(self, key: str, wake: Callable[[str], object]) -> None:
        """Wake the object with this key."""
        self._key = key
        self._wake = wake

    def __hash__(self) -> int:
        """Be one for each object."""
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        """Be one for each object of an engine."""
        return isinstance(other, LaterLook) and (self._key, self._wake) == (other._key, other._wake)

    def on_due(self) -> None:
        """Look at the object."""
        self._wake(self._key)
