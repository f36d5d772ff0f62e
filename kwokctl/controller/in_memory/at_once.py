"""Plays Stages on an object in memory as long as all they do at once is to patch it. Pure.

What is patched is its status, its labels and its annotations. It stops before whatever takes time, or other clients must see: a delay, an event, finalizers,
deletions, other objects, other users. And it stops before a choice among Stages that are not all
such: the controller makes that choice then, once.
"""

from collections.abc import Sequence
from typing import Protocol

from kwokctl.controller.engine.patches import rooted
from kwokctl.controller.in_memory.changes import PLAYED, WORDS, check_changes
from kwokctl.controller.stages.choice import Basis, basis
from kwokctl.controller.stages.model import MOST_WITHOUT_DELAY, ObjectTemplate, PatchStep, Stage
from kwokctl.errors import ExpressionError
from kwokctl.expr.gotemplate.symbols import NotSymbolicError
from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType
from kwokctl.kube.patching.apply import UnknownPatchError, apply_patch


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
        """Return whether a part of an object is certainly another one."""
        ...

    def chosen(self, found: Basis) -> Stage | None:
        """Choose among the Stages that match."""
        ...

    def failed(self) -> None:
        """Take note that a Stage cannot be played; it is left to the controller unless this raises."""
        ...

    def selected(self, value: Json) -> bool:
        """Return whether the controller still plays an object whose metadata has been changed."""
        ...

    def owned(self, before: Json, after: Json, subresource: str) -> Json:
        """Return an object that has been changed, with its managed fields updated."""
        ...


def play(stages: Sequence[Stage], value: Json, manner: PlayManner) -> Json:
    """Return an object as the Stages leave it at once; the object itself if they do nothing.

    Raises EndlessPlayError if they come to no end.
    """
    for _ in range(MOST_WITHOUT_DELAY):
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
    """Return whether all that a Stage does is to patch the object, without delay or impersonation."""
    return _is_immediate(stage) and all(
        isinstance(step, PatchStep) and step.subresource in PLAYED and not step.as_user
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
    return changed if _surely_differ(value, changed, manner) else None


def _surely_differ(before: Json, after: Json, manner: PlayManner) -> bool:
    """Return whether any part that can be played has certainly been changed."""
    old, new = before["metadata"], after["metadata"]
    return any(
        manner.surely_differ(one, other)
        for one, other in (
            (before.get("status"), after.get("status")),
            *((old.get(name), new.get(name)) for name in WORDS if old is not new),
        )
    )


def _patched(step: PatchStep, value: Json, manner: PlayManner) -> Json:
    document = rooted(manner.rendered(step.template, value), step.root, step.type)
    if step.subresource == "status":
        document = manner.composed(value, document, step.type)
    changed = apply_patch(value, document, step.type, manner.kind)
    if changed is value:
        return value
    check_changes(value, changed, step.subresource)
    if not step.subresource and not manner.selected(changed):
        raise UnknownPatchError("the object would not be played any more")
    return manner.owned(value, changed, step.subresource)
