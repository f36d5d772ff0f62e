"""Stages without delay that follow each other without end: found by playing them on examples."""

import re
from collections.abc import Iterator, Sequence
from itertools import count

import orjson

from kwokctl.clusters.stage_tools.functions import example_functions
from kwokctl.clusters.stage_tools.graph import examples_of
from kwokctl.clusters.stage_tools.linting.witness import witnesses
from kwokctl.controller.engine import stage_patches
from kwokctl.controller.engine.node_conditions import ConditionComposer
from kwokctl.controller.engine.stage_circles import SHORTEST
from kwokctl.controller.stages.compiled_stage import (
    MOST_WITHOUT_DELAY,
    FinalizersStep,
    PatchStep,
    Stage,
    by_kind,
)
from kwokctl.controller.stages.patch_root import rooted
from kwokctl.controller.stages.stage_choice import basis_of_sound, possible, seconds_range
from kwokctl.errors import ExpressionError
from kwokctl.expr.duration import parse_time
from kwokctl.expr.gotemplate.template import Functions
from kwokctl.json_value import Json
from kwokctl.kube.patching.apply_patch import UnknownPatchError, apply_patch

_PLAYS = 500
"""For each kind: sets with many ways through them are not searched to the end."""
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\dZ]*")
_NOW = parse_time("2026-01-01T00:00:00Z")


def circles(stages: Sequence[Stage]) -> list[tuple[Stage, ...]]:
    """Return each set of Stages that may follow each other again and again without delay, in order."""
    return [circle for of_kind in by_kind(stages).values() for circle in _Walker(of_kind).found()]


class _Walker:
    """Plays the Stages of a kind on objects, as long as they come at once."""

    def __init__(self, stages: Sequence[Stage]) -> None:
        self._stages = stages
        self._circles: dict[frozenset[Stage], tuple[Stage, ...]] = {}
        self._plays = 0
        self._walked: set[str] = set()
        self._functions = _functions()
        self._conditions = ConditionComposer()

    def found(self) -> list[tuple[Stage, ...]]:
        for stage in self._stages:
            for value in witnesses(stage, examples_of(stage.kind)):
                self._walk(value, (), ())
        return list(self._circles.values())

    def _walk(self, value: Json, path: tuple[Stage, ...], states: tuple[str, ...]) -> None:
        state = _MOMENT.sub("", orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode())
        if state in states:
            self._note(path[states.index(state) :])
        elif len(path) > MOST_WITHOUT_DELAY:
            self._note(path[path.index(path[-1]) : -1])
        elif state not in self._walked:
            for stage in self._without_delay(value):
                for after in self._after(stage, value):
                    self._walk(after, (*path, stage), (*states, state))
            self._walked.add(state)

    def _note(self, circle: tuple[Stage, ...]) -> None:
        """Keep a circle, as beginning with the Stage that comes first in its set."""
        if circle:
            first = circle.index(min(circle, key=self._stages.index))
            stages = dict.fromkeys(circle[first:] + circle[:first])
            self._circles.setdefault(frozenset(circle), tuple(stages))

    def _without_delay(self, value: Json) -> Sequence[Stage]:
        """Return the Stages that may be chosen, nothing if one of them takes time."""
        chosen = possible(basis_of_sound(self._stages, value, lambda *_: None))
        takes_time = any(seconds_range(stage.delay, value, _NOW)[1] >= SHORTEST for stage in chosen)
        return [] if takes_time else chosen

    def _after(self, stage: Stage, value: Json) -> Iterator[Json]:
        """Yield the object as a Stage leaves it if the controller looks at it again then."""
        self._plays += 1
        if self._plays > _PLAYS or stage.deletes:
            return
        try:
            after = self._played(stage, value)
        except (ExpressionError, UnknownPatchError):
            return
        if after != value or (stage.immediate_next and stage.delay is not None):
            yield after

    def _played(self, stage: Stage, value: Json) -> Json:
        for step in stage.steps:
            match step:
                case PatchStep():
                    value = self._patched(stage, step, value)
                case FinalizersStep():
                    value = _with_finalizers(step, value)
                case _:
                    pass
        return value

    def _patched(self, stage: Stage, step: PatchStep, value: Json) -> Json:
        document = step.template.render_object(value, self._functions)
        document = rooted(document, step.root, step.type)
        kind = stage.kind.name
        if step.subresource == "status" and kind == "Node":
            document = self._conditions.compose(value, document, step.type, _NOW)
        after = apply_patch(value, document, step.type, kind)
        if step.subresource == "status":
            return {**value, "status": after.get("status")}
        return {**after, "status": value.get("status")} if kind in {"Node", "Pod"} else after


def _with_finalizers(step: FinalizersStep, value: Json) -> Json:
    metadata = value["metadata"]
    current = metadata.get("finalizers") or []
    wanted = stage_patches.finalizers_after(
        current, add=step.add, remove=step.remove, empty=step.empty
    )
    return value if wanted == current else {**value, "metadata": {**metadata, "finalizers": wanted}}


def _functions() -> Functions:
    """Return functions for which time passes with every call."""
    ticks = count(1)
    return example_functions(lambda: _NOW + next(ticks))
