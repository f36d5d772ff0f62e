"""Slows down objects that Stages without delay keep changing, and reports these Stages."""

import logging
from collections.abc import Sequence

from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.engine.object_events import warning_of
from kwokctl.controller.engine.object_state import ObjectState
from kwokctl.controller.stages.compiled_stage import Stage
from kwokctl.dataplane.events.object_event import ObjectEvent
from kwokctl.kube.resource import Resource
from kwokctl.retry import backoff

log = logging.getLogger(__name__)

SHORTEST = 0.1
"""The shortest delay in seconds that counts as one: with shorter ones an object changes without pause."""
_FIRST, _MOST = SHORTEST, 60.0
_MOST_NAMED = 100
_REASON = "StageCircle"
_REMEDY = "give one of them a delay, or a selector that does not match the result"


class CircleGuard:
    """Lets objects wait that do not settle, longer each time, and finds the Stages that change them.

    Cycles with a delay of at least `SHORTEST`, such as heartbeats, are not slowed down.
    """

    def __init__(self, resource: Resource, context: ControllerContext) -> None:
        """Guard the objects of a resource."""
        self._resource = resource
        self._context = context
        self._followed: dict[str, list[str]] = {}
        """The Stages of each object that is slowed down, until one occurs for the second time."""
        self._named: set[frozenset[str]] = set()

    def wait_before(self, state: ObjectState, stage: Stage, too_many: int) -> float:
        """Return the seconds that an object has to wait for a Stage without delay.

        `too_many` is the number of plays without delay beyond those that are allowed.
        """
        self._context.metrics.count("kwok_controller_slowed_plays_total", stage=stage.name)
        if too_many == 1:
            self._followed[state.key] = []
        self._follow(state, stage.name)
        return backoff(too_many, self._context.random, first=_FIRST, most=_MOST)

    def forget(self, state: ObjectState) -> None:
        """Forget an object that does not exist any more."""
        self._followed.pop(state.key, None)

    def _follow(self, state: ObjectState, stage: str) -> None:
        """Record the Stages of an object that is slowed down, until one occurs for the second time."""
        names = self._followed.get(state.key)
        if names is None:
            return
        if stage in names:
            del self._followed[state.key]
            self._name(state, names[names.index(stage) :])
        else:
            names.append(stage)

    def _name(self, state: ObjectState, circle: Sequence[str]) -> None:
        """Report a cycle of Stages: in an Event of the object, and the first time in the log."""
        names = ", ".join(f"'{name}'" for name in circle)
        self._context.warnings.put(self._event(state, names))
        if frozenset(circle) in self._named or len(self._named) >= _MOST_NAMED:
            return
        self._named.add(frozenset(circle))
        log.warning(
            "stages without delay change %s %r again and again, and are slowed down: %s (logged "
            "once); %s",
            self._resource.kind,
            state.key,
            names,
            _REMEDY,
        )

    def _event(self, state: ObjectState, names: str) -> ObjectEvent:
        message = f"Stages without delay follow each other in a cycle: {names}; {_REMEDY}"
        at = self._context.wall()
        return warning_of(self._resource, state, reason=_REASON, message=message, at=at)
