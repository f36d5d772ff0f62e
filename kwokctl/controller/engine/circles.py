"""Slows down objects that Stages without delay change again and again, and names those Stages."""

import logging
from collections.abc import Callable
from random import Random

from kwokctl.controller.engine.object_state import ObjectState
from kwokctl.controller.stages.model import Stage
from kwokctl.embedded.metrics import Metrics
from kwokctl.retry import backoff

log = logging.getLogger(__name__)

_AT_ONCE = 16
"""Stages that may follow each other on an object without any delay."""
_QUIET = 1.0
"""Seconds without a play after which an object is taken to have come to rest."""
_FIRST, _MOST = 0.1, 60.0
_MOST_FOLLOWED = 100


class CircleGuard:
    """Counts for each object the Stages that follow each other without delay.

    An object that does not come to rest has to wait before each further Stage, longer each time.
    Cycles with a delay, such as heartbeats, are not touched.
    """

    def __init__(
        self, kind: str, metrics: Metrics, random: Random, clock: Callable[[], float]
    ) -> None:
        """Guard the objects of a kind; `clock` is that of their `due`."""
        self._kind = kind
        self._metrics = metrics
        self._random = random
        self._clock = clock
        self._followed: dict[str, list[str]] = {}
        """The last Stages of those objects whose circle is not known yet."""
        self._named: set[frozenset[str]] = set()

    def wait_before(self, state: ObjectState, stage: Stage) -> float:
        """Return how long an object has to wait for a Stage that has no delay, in seconds."""
        if state.plays_at_once and self._clock() - state.due > _QUIET:
            state.plays_at_once = 0
        state.plays_at_once += 1
        too_many = state.plays_at_once - _AT_ONCE
        if too_many <= 0:
            return 0.0
        self._metrics.count("kwok_controller_slowed_plays_total", stage=stage.name)
        self._follow(state.key, stage.name)
        return backoff(too_many, self._random, first=_FIRST, most=_MOST)

    def _follow(self, key: str, stage: str) -> None:
        """Note the Stages of an object until one comes for the second time."""
        names = self._followed.setdefault(key, [])
        if stage in names:
            self._name(key, names[names.index(stage) :])
            del self._followed[key]
            return
        names.append(stage)
        if len(self._followed) > _MOST_FOLLOWED:
            del self._followed[next(iter(self._followed))]

    def _name(self, key: str, circle: list[str]) -> None:
        if frozenset(circle) in self._named or len(self._named) >= _MOST_FOLLOWED:
            return
        self._named.add(frozenset(circle))
        log.warning(
            "stages without delay change %s %r again and again, and are slowed down: %s (logged "
            "once); give one of them a delay, or a selector that does not match the result",
            self._kind,
            key,
            ", ".join(f"'{name}'" for name in circle),
        )
