"""Expressions that take more steps than an evaluation may, on an example already."""

from collections.abc import Callable, Iterator

from kwokctl.clusters.stage_tools.graph import examples_of
from kwokctl.clusters.stage_tools.linting.contradictions import Places, place_of
from kwokctl.controller.stages.choice import BASE_FIELD, BOUND_FIELD
from kwokctl.controller.stages.model import Stage
from kwokctl.controller.stages.places import takes_too_long
from kwokctl.errors import ExpressionError
from kwokctl.json_value import Json

_Look = Callable[[Json], object]


def costly_expressions(stage: Stage, places: Places) -> Iterator[tuple[str, str]]:
    """Yield the field of each expression that takes too long on an example, and what it says then.

    Of templates `failing_templates` does so.
    """
    examples = examples_of(stage.kind)
    for field, look in _looks(stage, places):
        if error := next(filter(None, (_error(look, value) for value in examples)), ""):
            yield field, error


def _looks(stage: Stage, places: Places) -> Iterator[tuple[str, _Look]]:
    if stage.selector is not None:
        for rule, index in zip(stage.selector.conditions, places.jq, strict=True):
            yield place_of(index), rule.query.values
        for expression, index in zip(stage.selector.expressions, places.cel, strict=True):
            yield place_of(index), expression.holds
    for field, query in (
        ("spec.weightFrom", stage.weight_from),
        (BASE_FIELD, stage.delay.base_from if stage.delay else None),
        (BOUND_FIELD, stage.delay.bound_from if stage.delay else None),
    ):
        if query is not None:
            yield field, query.values


def _error(look: _Look, value: Json) -> str:
    """Return what is said if it takes too long; empty if it does not, whatever else is wrong."""
    try:
        look(value)
    except ExpressionError as e:
        return str(e) if takes_too_long(e) else ""
    return ""
