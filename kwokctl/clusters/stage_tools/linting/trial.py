"""Templates that fail on every example."""

from collections.abc import Iterator

from kwokctl.clusters.stage_tools.functions import example_functions
from kwokctl.clusters.stage_tools.graph import examples_of
from kwokctl.clusters.stage_tools.linting.witness import witnesses
from kwokctl.controller.engine.patches import rooted, with_uid
from kwokctl.controller.stages.model import ApplyStep, PatchStep, Stage
from kwokctl.errors import ExpressionError
from kwokctl.expr.duration import parse_time
from kwokctl.json_value import Json

_NOW = parse_time("2026-01-01T00:00:00Z")


def failing_templates(stage: Stage) -> Iterator[tuple[str, str]]:
    """Yield the field of each template that can be rendered for none of the examples, and why."""
    values = list(witnesses(stage, examples_of(stage.kind)))
    for step in stage.steps:
        if isinstance(step, PatchStep | ApplyStep):
            errors = [_error(step, value) for value in values]
            if errors and all(errors):
                yield step.field, errors[0]


def _error(step: PatchStep | ApplyStep, value: Json) -> str:
    """Return what is wrong with what a template renders; empty if nothing is."""
    root = step.root if isinstance(step, PatchStep) else ""
    try:
        document = step.template.render_object(value, example_functions(lambda: _NOW))
        with_uid(rooted(document, root, step.type), "", step.type)
    except ExpressionError as e:
        return str(e)
    return ""
