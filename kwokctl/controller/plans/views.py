"""Evaluates Stages' selectors and delays once for all objects of a shape."""

from collections.abc import Sequence

import msgspec

from kwokctl.controller.stages import symbolic_matching
from kwokctl.controller.stages.compiled_stage import Delay, Stage
from kwokctl.controller.stages.selectors import FieldQuery
from kwokctl.controller.stages.stage_choice import Basis, basis
from kwokctl.errors import ExpressionError
from kwokctl.json_value import Json
from kwokctl.replacing import replace
from kwokctl.specialization.shape import Shape


class View(msgspec.Struct, frozen=True):
    """The matching Stages of a shape, with the sources of their delays."""

    basis: Basis
    delays: dict[Stage, Delay | None]
    """The delays of the matching Stages, with the results of their expressions."""


class _Found(msgspec.Struct, frozen=True):
    """The results of an expression for all objects of a shape."""

    found: Sequence[Json]

    def values(self, value: Json, /) -> Sequence[Json]:
        return self.found


def view_of(shape: Shape, stages: Sequence[Stage]) -> View | None:
    """Return the view that Stages have of a shape; None if it may differ between its objects."""
    guards = [_guarded(stage) for stage in stages]
    try:
        found = basis(guards, shape.value)
        matches = tuple(
            [s for s, guard in zip(stages, guards, strict=True) if guard in found.matches]
        )
        delays = {stage: _settled(stage.delay, shape.value) for stage in matches}
    except (ExpressionError, TypeError, AttributeError):
        return None
    return View(Basis(matches, found.weights, found.times), delays)


def _settled(delay: Delay | None, value: Json) -> Delay | None:
    if delay is None:
        return None
    base, bound = [
        query and _Found(symbolic_matching.GuardedQuery(query).values(value))
        for query in (delay.base_from, delay.bound_from)
    ]
    return replace(delay, base_from=base, bound_from=bound)


def _guarded(stage: Stage) -> Stage:
    selector, delay = stage.selector, stage.delay
    return replace(
        stage,
        selector=selector and symbolic_matching.guarded(selector),
        weight_from=_guard(stage.weight_from),
        delay=delay
        and replace(delay, base_from=_guard(delay.base_from), bound_from=_guard(delay.bound_from)),
    )


def _guard(query: FieldQuery | None) -> FieldQuery | None:
    return query and symbolic_matching.GuardedQuery(query)
