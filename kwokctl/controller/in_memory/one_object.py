"""Plays Stages on one object in memory, as the controller would have played them."""

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from kwokctl.controller.engine.node_conditions import ConditionComposer
from kwokctl.controller.in_memory.changes import STATUS
from kwokctl.controller.stages.compiled_stage import ObjectTemplate, Stage
from kwokctl.controller.stages.stage_choice import Basis, pick
from kwokctl.expr.duration import parse_time
from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType
from kwokctl.kube.patching.managed_fields import after_metadata_update, after_status_update


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
