"""Plays Stages in memory on one object, or once for all objects that differ in known places.

On one it is as the controller would have played them. For all there are symbols in these places: what the Stages look
at must be the same for all, but what they write may differ. Where that is not certain NotSymbolicError is raised, and
each object must be played by itself.
"""

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from kwokctl.controller.engine.node_conditions import ConditionComposer
from kwokctl.controller.in_memory.at_once import STATUS, is_at_once
from kwokctl.controller.stages import symbolic_matching
from kwokctl.controller.stages.compiled_stage import Delay, ObjectTemplate, Stage
from kwokctl.controller.stages.stage_choice import Basis, pick
from kwokctl.expr.duration import format_time, parse_time
from kwokctl.expr.gotemplate.go.formatting import quotable
from kwokctl.expr.gotemplate.symbols import Symbol, holds_symbol, refuse, stripped
from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType
from kwokctl.kube.patching.managed_fields import after_metadata_update, after_status_update
from kwokctl.replacing import replace


class OneObject:
    """Plays Stages on a single object."""

    def __init__(
        self,
        kind: str,
        functions: Mapping[str, Callable[..., Any]],
        random: Random,
        *,
        manager: str,
        now: str,
        selected: Callable[[Json], bool],
    ) -> None:
        """Play at the time `now`, with these functions; `manager` owns the written fields.

        `selected` returns whether the controller plays an object.
        """
        self.kind = kind
        self._functions = functions
        self._random = random
        self.conditions = ConditionComposer()
        self._manager = manager
        self.selected = selected
        self._now = f"{now[: len('2026-01-01T00:00:00')]}Z"

    def rendered(self, template: ObjectTemplate, value: Json) -> Json:
        """Render a template."""
        return template.render_object(value, self._functions)

    def composed(self, value: Json, document: Json, patch_type: PatchType) -> Json:
        """Return a patch with a node's conditions as they are sent."""
        if self.kind != "Node":
            return document
        return self.conditions.compose(value, document, patch_type, parse_time(self._now))

    def surely_differ(self, before: Json, after: Json) -> bool:
        """Return whether a patch has changed something: unchanged values are the same objects."""
        return before is not after

    def chosen(self, found: Basis) -> Stage | None:
        """Choose among the matching Stages as the controller does."""
        return pick(found, self._random)

    def failed(self) -> None:
        """Leave a failing Stage to the controller, which reports the error."""

    def owned(self, before: Json, after: Json, subresource: str) -> Json:
        """Return the changed object with the controller as manager of the fields that it has written."""
        if not before["metadata"].get("managedFields"):
            return after
        by = {"manager": self._manager, "now": self._now}
        if subresource == STATUS:
            owned = after_status_update(before, after, self.kind, **by)
        else:
            owned = after_metadata_update(before, after, **by)
        return {**after, "metadata": {**after["metadata"], "managedFields": owned}}


_PLAYED_AT = 1_234_567_890.0
"""A fixed time that stands for "now". Objects are played when they are created, so each time of a condition
is the time of the play, or is replaced by it."""
_NOW = format_time(_PLAYED_AT)
_LATER = Delay(base=1.0)


class AllObjects:
    """Plays Stages on all objects together."""

    def __init__(
        self, kind: str, functions: Mapping[str, Callable[..., Any]], *, now: Symbol
    ) -> None:
        """Play with `functions`, some of which return symbols; `now` is the time of the play."""
        self.kind = kind
        self._functions = functions
        self._now = now
        self._conditions = ConditionComposer()

    def rendered(self, template: ObjectTemplate, value: Json) -> Json:
        """Render a template with symbols."""
        return template.render_symbols(value, self._functions, ())

    def composed(self, value: Json, document: Json, patch_type: PatchType) -> Json:
        """Return a patch with a node's conditions as they are sent; all times in them are now."""
        if self.kind != "Node":
            return document
        status = document.get("status") if isinstance(document, dict) else None
        if not isinstance(status, dict) or "conditions" not in status:
            return document
        node = {
            "metadata": {"creationTimestamp": _NOW},
            "status": {"conditions": self._dated(value.get("status", {}).get("conditions") or [])},
        }
        known = {"status": {"conditions": self._dated(status["conditions"])}}
        composed = self._conditions.compose(node, known, patch_type, _PLAYED_AT)["status"]
        if "conditions" not in composed:
            return {**document, "status": {k: v for k, v in status.items() if k != "conditions"}}
        conditions = [self._undated(each) for each in composed["conditions"]]
        return {**document, "status": {**status, "conditions": conditions}}

    def surely_differ(self, before: Json, after: Json) -> bool:
        """Return whether a status has certainly changed in all objects."""
        if symbolic_matching.surely_differ(before, after):
            return True
        return refuse() if before is not after else False

    def chosen(self, found: Basis) -> Stage | None:
        """Take the only Stage that matches: a random choice must be made per object."""
        return found.matches[0] if len(found.matches) == 1 else refuse()

    def failed(self) -> None:
        """Raise the error: each object must be played by itself."""
        refuse()

    def selected(self, value: Json) -> bool:
        """Raise NotSymbolicError: changed metadata would have to be found in the real objects."""
        return refuse()

    def owned(self, before: Json, after: Json, subresource: str) -> Json:
        """Return the changed object, with managed fields unchanged: copies take them from the real object."""
        return after

    def _dated(self, conditions: Json) -> Json:
        """Return conditions with a fixed text for the current time, and without symbols."""
        if not isinstance(conditions, list):
            refuse()
        dated = [self._dated_one(each) for each in conditions]
        return refuse() if holds_symbol(dated) else dated

    def _dated_one(self, condition: Json) -> Json:
        if not isinstance(condition, dict):
            refuse()
        return {name: _NOW if self._is_now(value) else value for name, value in condition.items()}

    def _is_now(self, value: Json) -> bool:
        return isinstance(value, Symbol) and stripped(value, (quotable,)) is self._now

    def _undated(self, condition: Json) -> Json:
        return {
            name: self._now if isinstance(value, str) and value == _NOW else value
            for name, value in condition.items()
        }


def guarded(stages: Sequence[Stage]) -> Sequence[Stage]:
    """Return the Stages with conditions that raise if they read a value that differs between objects."""
    return [_guarded(stage) for stage in stages]


def _guarded(stage: Stage) -> Stage:
    selector = stage.selector and symbolic_matching.guarded(stage.selector)
    delay = None if is_at_once(stage) else _LATER
    return replace(stage, selector=selector, weight_from=None, delay=delay)
