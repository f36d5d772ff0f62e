"""Tries expressions and templates on examples: which fail on every one, take too many steps, or change nothing."""

from collections.abc import Callable, Iterator
from contextlib import suppress

from kwokctl.clusters.stage_tools.functions import example_functions
from kwokctl.clusters.stage_tools.graph import examples_of
from kwokctl.clusters.stage_tools.linting.contradictions import Places, place_of
from kwokctl.clusters.stage_tools.linting.witness import witnesses
from kwokctl.config.nearest import did_you_mean
from kwokctl.controller.engine.stage_patches import with_uid
from kwokctl.controller.stages.compiled_stage import ApplyStep, Kind, PatchStep, Stage
from kwokctl.controller.stages.patch_root import rooted
from kwokctl.controller.stages.stage_choice import (
    BASE_FIELD,
    BOUND_FIELD,
    seconds_range,
    unread_delay,
)
from kwokctl.controller.stages.stage_places import takes_too_long
from kwokctl.dataplane.objects.api_types import api_type, type_of_kind
from kwokctl.errors import ExpressionError
from kwokctl.expr.duration import parse_time
from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType

_STATUS = "status"
_NOW = parse_time("2026-01-01T00:00:00Z")


def failing_templates(stage: Stage) -> Iterator[tuple[str, str]]:
    """Yield the field of each template that can be rendered for none of the examples, and why."""
    values = list(witnesses(stage, examples_of(stage.kind)))
    for step in stage.steps:
        if isinstance(step, PatchStep | ApplyStep):
            errors = [_error(step, value) for value in values]
            if errors and all(errors):
                yield step.field, errors[0]


def misplaced_statuses(stage: Stage) -> Iterator[tuple[str, str]]:
    """Yield the field of each patch of a status that writes nothing there on any example, and why.

    The API server leaves out what a status does not have, and says so in a warning alone.
    """
    values = list(witnesses(stage, examples_of(stage.kind)))
    for step in stage.steps:
        if isinstance(step, PatchStep) and step.subresource == _STATUS:
            found = [_misplaced(step, value, stage.kind) for value in values]
            if found and all(found):
                yield step.field, found[0]


def unreadable_delays(stage: Stage) -> Iterator[tuple[str, str]]:
    """Yield the field of each delay that is read from an object but cannot be parsed, and why.

    A text counts only where it is in no object: that of an annotation is another in each.
    """
    told: dict[str, Json] = {}
    for value in (*witnesses(stage, examples_of(stage.kind)), {}):

        def unread(field: str, found: Json, *, is_fixed: bool = not value) -> None:
            if is_fixed or not isinstance(found, str):
                told.setdefault(field, found)

        with suppress(ExpressionError):  # that is another finding
            seconds_range(stage.delay, value, _NOW, unread)
    for field, found in told.items():
        yield field, unread_delay(found)


def _misplaced(step: PatchStep, value: Json, kind: Kind) -> str:
    try:
        document = _rendered(step, value)
    except ExpressionError:
        return ""  # that is another finding
    if not document:
        return ""
    if step.type is PatchType.JSON:
        is_there = any(str(each.get("path")).startswith(f"/{_STATUS}") for each in document)
        return "" if is_there else _NOT_THERE.format(what="no path in '/status'")
    if _STATUS not in document:
        return _NOT_THERE.format(what="no 'status'")
    return _unknown(document[_STATUS] or {}, kind)


def _unknown(status: Json, kind: Kind) -> str:
    """Return a message about an unknown field of a status; empty if all are known, or the kind is not."""
    known = _fields_of(kind)
    odd = next((name for name in status if known and name not in known), None)
    if odd is None:
        return ""
    if odd == _STATUS:
        return "renders a 'status' within the status, which is ignored: 'root: status' adds the outer one"
    near = did_you_mean(odd, known)
    what = f"renders '{odd}', which the status of a {kind.name} does not have"
    return f"{what}; {near}" if near else what


_NOT_THERE = "changes nothing: its result has {what}; 'root: status' puts it there"


def _fields_of(kind: Kind) -> list[str]:
    """Return the fields of the status of a kind; none where they are not known."""
    found = type_of_kind(kind.api_version, kind.name)
    status = next((each for each in found.fields if each.name == _STATUS), None) if found else None
    return [each.name for each in api_type(status.of).fields] if status else []


def _rendered(step: PatchStep | ApplyStep, value: Json) -> Json:
    """Return what a template gives for an object, under its root; raise ExpressionError if it fails."""
    root = step.root if isinstance(step, PatchStep) else ""
    document = step.template.render_object(value, example_functions(lambda: _NOW))
    return rooted(document, root, step.type)


def _error(step: PatchStep | ApplyStep, value: Json) -> str:
    """Return what is wrong with what a template renders; empty if nothing is."""
    try:
        with_uid(_rendered(step, value), "", step.type)
    except ExpressionError as e:
        return str(e)
    return ""


_Look = Callable[[Json], object]


def costly_expressions(stage: Stage, places: Places) -> Iterator[tuple[str, str]]:
    """Yield the field of each expression that takes too long on an example, and what it says then.

    Of templates `failing_templates` does so.
    """
    examples = examples_of(stage.kind)
    for field, look in _looks(stage, places):
        if error := next(filter(None, (_excess(look, value) for value in examples)), ""):
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


def _excess(look: _Look, value: Json) -> str:
    """Return what is said if it takes too long; empty if it does not, whatever else is wrong."""
    try:
        look(value)
    except ExpressionError as e:
        return str(e) if takes_too_long(e) else ""
    return ""
