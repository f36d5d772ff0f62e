"""Plays Stages on an object in memory as long as they do nothing but patch its status at once. Pure.

It stops before whatever takes time, or other clients must see: a delay, an event, finalizers,
deletions, other objects, other users. And it stops before a choice among Stages that are not all
such: the controller makes that choice then, once.
"""

from collections.abc import Sequence
from typing import Protocol

from kwokctl.controller.engine.patches import rooted
from kwokctl.controller.stages.choice import Basis, basis
from kwokctl.controller.stages.model import ObjectTemplate, PatchStep, Stage
from kwokctl.errors import ExpressionError
from kwokctl.expr.gotemplate.symbols import NotSymbolicError
from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType
from kwokctl.kube.patching.apply import UnknownPatchError, apply_patch

_MOST = 16
"""Stages that are played on one object: as many as the controller plays on it before it waits."""


class EndlessPlayError(Exception):
    """Stages follow each other in a circle: the controller slows them down, and names them."""


class PlayManner(Protocol):
    """How the parts of a play are done: with what an object has, or with symbols for all objects."""

    kind: str
    """The kind of the objects."""

    def rendered(self, template: ObjectTemplate, value: Json) -> Json:
        """Render what a template gives for the object as it is."""
        ...

    def composed(self, value: Json, document: Json, patch_type: PatchType) -> Json:
        """Return a patch as it is sent."""
        ...

    def surely_differ(self, before: Json, after: Json) -> bool:
        """Return whether a status is certainly another one."""
        ...

    def chosen(self, found: Basis) -> Stage | None:
        """Choose among the Stages that match."""
        ...

    def failed(self) -> None:
        """Take note that a Stage cannot be played; it is left to the controller unless this raises."""
        ...

    def owned(self, before: Json, after: Json) -> Json:
        """Return an object whose status has been changed, with its managed fields updated."""
        ...


def play(stages: Sequence[Stage], value: Json, manner: PlayManner) -> Json:
    """Return an object as the Stages leave it at once; the object itself if they do nothing.

    Raises EndlessPlayError if they come to no end.
    """
    for _ in range(_MOST):
        found = _basis(stages, value, manner)
        results = [_after(stage, value, manner) for stage in found.matches]
        if not results or any(result is None for result in results):
            return value
        chosen = manner.chosen(found)
        if chosen is None:
            return value
        value = results[found.matches.index(chosen)]
    raise EndlessPlayError


def _basis(stages: Sequence[Stage], value: Json, manner: PlayManner) -> Basis:
    """Find the Stages that match; none after an error, which the controller reports."""
    try:
        return basis(stages, value)
    except NotSymbolicError:
        raise
    except ExpressionError:
        manner.failed()
        return Basis((), (), ())


def is_at_once(stage: Stage) -> bool:
    """Return whether a Stage does nothing but patch the status, without delay or impersonation."""
    return _is_immediate(stage) and all(
        isinstance(step, PatchStep) and step.subresource == "status" and not step.as_user
        for step in stage.steps
    )


def _is_immediate(stage: Stage) -> bool:
    delay = stage.delay
    if delay is None:
        return True
    if delay.base_from is not None or delay.bound_from is not None:
        return False
    return not (delay.base if delay.bound is None else delay.bound)


def _after(stage: Stage, value: Json, manner: PlayManner) -> Json | None:
    """Return the object as a Stage leaves it; None if that is not certain, or nothing changes."""
    if not is_at_once(stage):
        return None
    changed = value
    try:
        for step in stage.steps:
            if isinstance(step, PatchStep):
                changed = _patched(step, changed, manner)
    except NotSymbolicError:
        raise
    except ExpressionError:
        manner.failed()
        return None
    return changed if manner.surely_differ(value.get("status"), changed.get("status")) else None


def _patched(step: PatchStep, value: Json, manner: PlayManner) -> Json:
    document = rooted(manner.rendered(step.template, value), step.root, step.type)
    document = manner.composed(value, document, step.type)
    changed = apply_patch(value, document, step.type, manner.kind)
    for name in changed.keys() | value.keys():
        if name != "status" and changed.get(name) is not value.get(name):
            raise UnknownPatchError("the status alone can be patched as a subresource")
    return changed if changed is value else manner.owned(value, changed)
