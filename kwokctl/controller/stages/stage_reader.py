"""Turns Stage documents into stages: checks them, compiles their expressions, converts old spellings."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import msgspec

from kwokctl.config.config_documents import Document, FieldError
from kwokctl.controller.stages import stage_functions, stage_schema
from kwokctl.controller.stages.compiled_stage import (
    ApplyStep,
    Delay,
    DeleteStep,
    EventStep,
    FinalizersStep,
    Kind,
    ObjectTemplate,
    PatchStep,
    Stage,
    Step,
)
from kwokctl.controller.stages.selectors import Condition, FieldQuery, Requirement, Selector
from kwokctl.controller.stages.stage_places import StagePlace
from kwokctl.errors import ExpressionError
from kwokctl.expr import gotemplate, jq
from kwokctl.kube.client import PatchType

if TYPE_CHECKING:
    from kwokctl.controller.stages.cel_results import CelExpressions
    from kwokctl.expr.cel import StructKind

T = TypeVar("T")

_STRUCTS: "Mapping[Kind, StructKind]" = {Kind("v1", "Node"): "Node", Kind("v1", "Pod"): "Pod"}
_STRATEGIC_KINDS = frozenset({"Node", "Pod"})
_API_VERSION = re.compile(r"([a-z0-9][a-z0-9.-]*/)?[a-z0-9][a-z0-9-]*")
_WHERE = re.compile(r" - at `\$\.?(?P<path>.*)`$")


def read_stages(documents: Iterable[Document]) -> tuple[Stage, ...]:
    """Turn every Stage document into a stage.

    Raises ConfigError that names file, stage and field for what cannot be understood. A later stage
    of a name replaces an earlier one.
    """
    stages: dict[str, Stage] = {}
    for document in documents:
        if document.kind == "Stage":
            stage = _Reader(document).stage()
            stages[stage.name] = stage
    return tuple(stages.values())


class StageFieldError(FieldError):
    """A field of a Stage is invalid."""

    def __init__(self, document: Document, field: str, problem: str) -> None:
        """Name the field and its document, and what is wrong with it."""
        super().__init__(f"{document.source}: stage '{document.name}'", field, problem)


class _PlacedStep(NamedTuple):
    """A step, and where its templates are in the document."""

    shape: stage_schema.StepShape
    patch: str = ""
    apply: str = ""


class _Reader:
    """Reads one document, and says where in it something is wrong."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._name = document.name

    def stage(self) -> Stage:
        if not self._name:
            raise self._document.fault("metadata.name", "is missing")
        spec = self._shape().spec
        kind = Kind(spec.resource_ref.api_group or "v1", spec.resource_ref.kind)
        if not _API_VERSION.fullmatch(kind.api_version):
            problem = f"is '{kind.api_version}', neither a version nor GROUP/VERSION"
            raise self._fault("spec.resourceRef.apiGroup", problem)
        steps = _placed(spec.steps) or _converted(spec.next)
        if not steps:
            raise self._fault("spec.steps", "is empty: the stage would do nothing")
        return Stage(
            name=self._name,
            kind=kind,
            selector=self._selector(spec.selector, kind) if spec.selector is not None else None,
            steps=tuple(self._steps(steps, kind)),
            weight=spec.weight,
            weight_from=self._weight(spec.weight_from, kind, "spec.weightFrom"),
            delay=self._delay(spec.delay, kind) if spec.delay is not None else None,
            immediate_next=spec.immediate_next_stage,
            source=self._document.source,
        )

    def _shape(self) -> stage_schema.StageShape:
        try:
            return msgspec.convert(self._document.body, stage_schema.StageShape)
        except msgspec.ValidationError as e:
            found = _WHERE.search(str(e))
            path = found["path"] if found else ""
            problem = _WHERE.sub("", str(e)).replace("`", "'")
            raise self._fault(
                path or "spec", f"is wrong: {problem[:1].lower()}{problem[1:]}"
            ) from e

    def _selector(self, shape: stage_schema.SelectorShape, kind: Kind) -> Selector:
        conditions: list[Requirement] = []
        expressions: list[Condition] = []
        for index, item in enumerate(shape.match_expressions):
            path = f"spec.selector.matchExpressions[{index}]"
            if item.cel is not None and item.jq is None:
                expressions.append(self._cel(item.cel, _cel(kind).condition, path))
            else:
                conditions.append(self._condition(item, path))
        return Selector(
            labels=tuple(shape.match_labels.items()),
            annotations=tuple(shape.match_annotations.items()),
            conditions=tuple(conditions),
            expressions=tuple(expressions),
        )

    def _condition(self, shape: stage_schema.ConditionShape, path: str) -> Requirement:
        if shape.jq is not None:
            key, operator, values = shape.jq.key, shape.jq.operator, shape.jq.values
            path = f"{path}.jq"
        elif shape.key and shape.operator is not None:
            key, operator, values = shape.key, shape.operator, shape.values
        else:
            raise self._fault(path, "needs 'jq' with a 'key' and an 'operator', or 'cel'")
        if operator in {"In", "NotIn"} and not values:
            raise self._fault(f"{path}.values", f"must not be empty with the operator '{operator}'")
        if operator in {"Exists", "DoesNotExist"} and values:
            raise self._fault(f"{path}.values", f"must be empty with the operator '{operator}'")
        return Requirement(self._query(key, f"{path}.key"), operator, frozenset(values))

    def _weight(
        self, shape: stage_schema.SourceShape | None, kind: Kind, path: str
    ) -> FieldQuery | None:
        if shape is None or shape.cel is None:
            return self._source(shape, path)
        return self._cel(shape.cel, _cel(kind).weight, path)

    def _delay(self, shape: stage_schema.DelayShape, kind: Kind) -> Delay:
        bound = shape.jitter_duration_milliseconds
        return Delay(
            base=(shape.duration_milliseconds or 0) / 1000,
            base_from=self._time(shape.duration_from, kind, "durationFrom"),
            bound=None if bound is None else bound / 1000,
            bound_from=self._time(shape.jitter_duration_from, kind, "jitterDurationFrom"),
        )

    def _time(
        self, shape: stage_schema.SourceShape | None, kind: Kind, name: str
    ) -> FieldQuery | None:
        path = f"spec.delay.{name}"
        if shape is None or shape.cel is None:
            return self._source(shape, path)
        return self._cel(shape.cel, _cel(kind).delay, path)

    def _cel(
        self, shape: stage_schema.CelShape, compile_: Callable[[str, StagePlace], T], path: str
    ) -> T:
        field = f"{path}.cel.expression"
        place = StagePlace(self._name, self._document.source, field)
        return self._compiled(lambda: compile_(shape.expression, place), field)

    def _source(self, shape: stage_schema.SourceShape | None, path: str) -> FieldQuery | None:
        if shape is None:
            return None
        if shape.jq is not None:
            return self._query(shape.jq.expression, f"{path}.jq.expression")
        if shape.expression_from:
            return self._query(shape.expression_from, f"{path}.expressionFrom")
        return None

    def _steps(self, steps: Iterable[_PlacedStep], kind: Kind) -> Iterator[Step]:
        deleted = False
        for placed in steps:
            for step in self._step(placed, kind):
                if not deleted or isinstance(step, EventStep):
                    yield step
                deleted = deleted or isinstance(step, DeleteStep)

    def _step(self, placed: _PlacedStep, kind: Kind) -> Iterator[Step]:
        shape = placed.shape
        if shape.event is not None:
            event = shape.event
            yield EventStep(type=event.type, reason=event.reason, message=event.message)
        if shape.finalizers is not None:
            yield FinalizersStep(
                add=tuple(item.value for item in shape.finalizers.add),
                remove=tuple(item.value for item in shape.finalizers.remove),
                empty=shape.finalizers.empty,
            )
        if shape.delete:
            yield DeleteStep()
        if shape.patch is not None:
            yield self._patch(shape.patch, kind, placed.patch)
        if shape.apply is not None:
            yield ApplyStep(
                template=self._template(shape.apply.template, kind, placed.apply),
                subresource=shape.apply.subresource,
                type=PatchType[(shape.apply.type or "apply").upper()],
                as_user=_username(shape.apply.impersonation),
                field=placed.apply,
            )

    def _patch(self, shape: stage_schema.PatchShape, kind: Kind, path: str) -> PatchStep:
        is_strategic = kind.api_version == "v1" and kind.name in _STRATEGIC_KINDS
        usual = "strategic" if is_strategic else "merge"
        return PatchStep(
            template=self._template(shape.template, kind, path),
            root=shape.root,
            subresource=shape.subresource,
            type=PatchType[(shape.type or usual).upper()],
            as_user=_username(shape.impersonation),
            field=path,
        )

    def _query(self, source: str, path: str) -> FieldQuery:
        return self._compiled(lambda: jq.compile(source), path)

    def _template(self, source: str, kind: Kind, path: str) -> ObjectTemplate:
        template = self._compiled(lambda: gotemplate.compile(source, name=self._name), path)
        is_pod = kind == Kind("v1", "Pod")
        unknown = template.required - (
            stage_functions.POD_NAMES if is_pod else stage_functions.NAMES
        )
        if unknown:
            names = ", ".join(f"{each} ({template.place_of(each)})" for each in sorted(unknown))
            raise self._fault(path, f"calls what is not a function for a {kind.name}: {names}")
        return template

    def _compiled(self, compile_: Callable[[], T], path: str) -> T:
        try:
            return compile_()
        except ExpressionError as e:
            raise self._fault(path, f"cannot be compiled: {e}") from e
        except RecursionError as e:
            raise self._fault(path, "is nested too deeply") from e

    def _fault(self, path: str, problem: str) -> StageFieldError:
        return StageFieldError(self._document, path, problem)


def _cel(kind: Kind) -> "CelExpressions":
    """Return the compiler of CEL: few Stages have any, and it is slow to load."""
    from kwokctl.controller.stages.cel_results import CelExpressions

    return CelExpressions(_STRUCTS.get(kind))


def _placed(shapes: Iterable[stage_schema.StepShape]) -> list[_PlacedStep]:
    return [
        _PlacedStep(
            shape, f"spec.steps[{index}].patch.template", f"spec.steps[{index}].apply.template"
        )
        for index, shape in enumerate(shapes)
    ]


def _converted(shape: stage_schema.NextShape | None) -> list[_PlacedStep]:
    """Spell `next` as steps, in the order event, finalizers, patches, delete."""
    if shape is None:
        return []
    steps = [_PlacedStep(stage_schema.StepShape(event=shape.event, finalizers=shape.finalizers))]
    steps += [
        _PlacedStep(stage_schema.StepShape(patch=patch), f"spec.next.patches[{index}].template")
        for index, patch in enumerate(shape.patches)
    ]
    if not shape.patches and shape.status_template:
        patch = stage_schema.PatchShape(
            template=shape.status_template,
            root="status",
            subresource=shape.status_subresource,
            impersonation=shape.status_patch_as,
        )
        steps.append(_PlacedStep(stage_schema.StepShape(patch=patch), "spec.next.statusTemplate"))
    steps.append(_PlacedStep(stage_schema.StepShape(delete=shape.delete)))
    return [each for each in steps if each.shape != stage_schema.StepShape()]


def _username(shape: stage_schema.ImpersonationShape | None) -> str:
    return shape.username if shape is not None else ""
