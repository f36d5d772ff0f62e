"""Lets Stages rest whose evaluation has exceeded its budget of steps, so that other Stages are played.

Thousands of objects that each fail would take all of the controller's time. Objects that need such a
Stage while it rests are put off.
"""

from collections.abc import Callable, Sequence
from random import Random

from kwokctl.controller.engine.conduct_turn import ConductTurn
from kwokctl.controller.stages.compiled_stage import Stage

REST = 1.0
"""Seconds of rest after a failure; the failure itself takes a tenth of that."""
_SPREAD = 30.0
"""Seconds over which objects that were put off are spread."""


class StageRests:
    """The Stages that rest, and until when."""

    __slots__ = ("_random", "_until")

    def __init__(self, random: Random) -> None:
        """Begin without any."""
        self._random = random
        self._until: dict[Stage | ConductTurn, float] = {}

    def note(self, stage: Stage | ConductTurn, now: float) -> None:
        """Let a Stage rest that has just failed."""
        self._until = {each: until for each, until in self._until.items() if until > now}
        self._until[stage] = now + REST

    def holds(self, stage: Stage | ConductTurn, now: float) -> bool:
        """Return whether a Stage rests."""
        return bool(self._until) and self._until.get(stage, now) > now

    def awake(self, stages: Sequence[Stage], now: float) -> Sequence[Stage]:
        """Return the Stages that do not rest; the sequence itself if none does."""
        if not any(until > now for until in self._until.values()):
            return stages
        return tuple(stage for stage in stages if not self.holds(stage, now))

    def put_off(self) -> float:
        """Return the delay in seconds of an object that is put off."""
        return REST + self._random.uniform(0, _SPREAD)


class LaterLook:
    """An item of the delay queue: an object that is matched again later, when Stages may not rest any more."""

    __slots__ = ("_key", "_wake")

    def __init__(self, key: str, wake: Callable[[str], object]) -> None:
        """Wake the object with this key."""
        self._key = key
        self._wake = wake

    def __hash__(self) -> int:
        """Be equal for the same object."""
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        """Be equal for the same object of the same engine."""
        return isinstance(other, LaterLook) and (self._key, self._wake) == (other._key, other._wake)

    def on_due(self) -> None:
        """Match the object again."""
        self._wake(self._key)
