"""Plays Stages on an object in memory while all they do is to patch it without delay. Pure.

They may patch its status, its labels and its annotations. The play stops before everything that takes
time, or that other clients must see: a delay, an Event, finalizers, a deletion, other objects, other
users. It also stops before a choice among Stages that include one of these: the controller makes that
choice.
"""

from collections.abc import Sequence
from typing import Protocol

from kwokctl.controller.stages.compiled_stage import (
    MOST_WITHOUT_DELAY,
    ObjectTemplate,
    PatchStep,
    Stage,
)
from kwokctl.controller.stages.patch_root import rooted
from kwokctl.controller.stages.stage_choice import Basis, basis
from kwokctl.errors import ExpressionError
from kwokctl.expr.gotemplate.symbols import NotSymbolicError
from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType
from kwokctl.kube.names import is_label_value, is_qualified_name
from kwokctl.kube.patching.apply_patch import UnknownPatchError, apply_patch

STATUS, ITSELF = "status", ""
PLAYED = frozenset({STATUS, ITSELF})
"""The subresources that can be patched before an object is written."""
WORDS = ("labels", "annotations")
"""The metadata that can be patched before an object is written."""
_MOST = 256 << 10
"""The most bytes of all annotations of an object (`TotalAnnotationSizeLimitB` of Kubernetes)."""


def check_changes(before: Json, after: Json, subresource: str) -> None:
    """Raise UnknownPatchError unless the API server would certainly accept a change unchanged."""
    part = "status" if subresource == STATUS else "metadata"
    for name in after.keys() | before.keys():
        if name != part and after.get(name) is not before.get(name):
            raise UnknownPatchError(f"'{name}' cannot be patched here")
    if part == "metadata":
        _check_metadata(before["metadata"], after["metadata"])


def _check_metadata(before: Json, after: Json) -> None:
    for name in after.keys() | before.keys():
        if name not in WORDS and after.get(name) is not before.get(name):
            raise UnknownPatchError(f"'metadata.{name}' cannot be patched here")
    labels, annotations = [after.get(name) or {} for name in WORDS]
    if not (_are_labels(labels) and _are_annotations(annotations)):
        raise UnknownPatchError("the API server would refuse the labels or annotations")


def _are_labels(labels: Json) -> bool:
    return isinstance(labels, dict) and all(
        is_qualified_name(name) and isinstance(text, str) and is_label_value(text)
        for name, text in labels.items()
    )


def _are_annotations(annotations: Json) -> bool:
    if not isinstance(annotations, dict):
        return False
    size = 0
    for name, text in annotations.items():
        if not isinstance(text, str) or not is_qualified_name(name.lower()):
            return False
        size += len(name.encode()) + len(text.encode())
    return size <= _MOST


class EndlessPlayError(Exception):
    """Stages follow each other in a cycle: the controller slows them down, and names them."""


class PlayManner(Protocol):
    """The operations of a play, with the values of one object or with symbols for all objects."""

    kind: str
    """The kind of the objects."""

    def rendered(self, template: ObjectTemplate, value: Json) -> Json:
        """Render a template for the present object."""
        ...

    def composed(self, value: Json, document: Json, patch_type: PatchType) -> Json:
        """Return a rendered patch as it is sent."""
        ...

    def surely_differ(self, before: Json, after: Json) -> bool:
        """Return whether a part of an object has certainly changed."""
        ...

    def chosen(self, found: Basis) -> Stage | None:
        """Choose among the Stages that match."""
        ...

    def failed(self) -> None:
        """Note that a Stage cannot be played; it is left to the controller unless this raises."""
        ...

    def selected(self, value: Json) -> bool:
        """Return whether the controller still plays an object with changed metadata."""
        ...

    def owned(self, before: Json, after: Json, subresource: str) -> Json:
        """Return a changed object with its managed fields updated."""
        ...


def play(stages: Sequence[Stage], value: Json, manner: PlayManner) -> Json:
    """Return an object with all changes that Stages make without delay; the object itself without any.

    Raises EndlessPlayError if Stages follow each other without end.
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
    """Find the matching Stages; none after an error, which the controller reports."""
    try:
        return basis(stages, value)
    except NotSymbolicError:
        raise
    except ExpressionError:
        manner.failed()
        return Basis((), (), ())


def is_at_once(stage: Stage) -> bool:
    """Return whether a Stage only patches the object, without delay or impersonation."""
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
    """Return the object after a Stage; None if the result is not certain, or nothing changes."""
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
    """Return whether any part that can be played has certainly changed."""
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
        raise UnknownPatchError("the controller would not play the changed object")
    return manner.owned(value, changed, step.subresource)
