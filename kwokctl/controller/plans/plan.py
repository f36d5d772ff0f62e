"""Proves the effect of a Stage's status patch for all objects of a shape."""

from collections.abc import Callable, Sequence

import msgspec

from kwokctl.controller.stages import symbolic_matching
from kwokctl.controller.stages.compiled_stage import EventStep, PatchStep, Step
from kwokctl.controller.stages.patch_root import rooted
from kwokctl.controller.stages.stage_functions import KNOWN
from kwokctl.dataplane.status_change import is_of_status
from kwokctl.errors import ExpressionError
from kwokctl.expr.gotemplate.symbols import Symbol, refuse
from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType
from kwokctl.kube.patching.apply_patch import apply_patch
from kwokctl.kube.resource import Resource
from kwokctl.kube.statuses import changed_parts
from kwokctl.specialization.holes import Hole, LooseHole, mapped
from kwokctl.specialization.shape import ObjectForm, Shape
from kwokctl.specialization.soundness import is_sound
from kwokctl.specialization.source import Compute, Functions, Source

_TYPES = frozenset({PatchType.STRATEGIC, PatchType.MERGE})


class StagePlan(msgspec.Struct, frozen=True):
    """The effect of steps of a Stage on all objects of a shape."""

    event: EventStep | None
    """The Event that is written together with the patch."""
    steps: int
    """The number of steps of the Stage that the plan covers."""
    shape: Shape
    """The shape of the objects afterwards."""
    compute: Compute

    def form(self, form: ObjectForm, functions: Functions) -> ObjectForm:
        """Return an object as it is afterwards; MisfitError, or another error, if the plan does not apply to it."""
        return ObjectForm(self.shape, self.compute(form.holes, functions)[0])


def plan_of(
    resource: Resource,
    steps: Sequence[Step],
    form: ObjectForm,
    functions: Functions,
    known: Callable[[Shape], Shape],
) -> StagePlan | None:
    """Return the plan for the next step: a patch, or an Event with the patch after it.

    `form` is one of the objects, and `functions` are those for its templates. `known` returns the
    cached shape that equals a shape. None if nothing is certain.
    """
    event = steps[0] if isinstance(steps[0], EventStep) else None
    step = steps[0] if event is None else next(iter(steps[1:]), None)
    if not isinstance(step, PatchStep) or not _is_plain(step):
        return None
    try:
        source = Source(form.shape.holes, form.holes, functions, KNOWN)
        after = Shape(resource, _after(resource, step, form.shape, source))
        compute = source.compute(after.sources)
    except (ExpressionError, TypeError, ValueError, AttributeError):
        return None
    return StagePlan(event, 1 + (event is not None), known(after), compute)


def _is_plain(step: PatchStep) -> bool:
    return step.subresource == "status" and not step.as_user and step.type in _TYPES


def _after(resource: Resource, step: PatchStep, shape: Shape, source: Source) -> Json:
    """Return the object after a patch; NotSymbolicError, or another error, if the result is not certain."""
    calls = source.functions(step.template.required)
    rendered = mapped(step.template.render_symbols(shape.value, calls, ()), source.hole)
    document = rooted(rendered, step.root, step.type)
    loose = _Loosened()
    before = mapped(shape.value, loose)
    after = apply_patch(before, mapped(document, loose), step.type, resource.kind)
    if not _is_certain(resource, before, after):
        refuse()
    return mapped(after, loose.back)


def _is_certain(resource: Resource, before: Json, after: Json) -> bool:
    """Return whether a write certainly changes only the status, and the API server would accept it."""
    known, status = before.get("status"), after.get("status")
    return (
        symbolic_matching.surely_differ(known, status)
        and is_of_status(before, after)
        and is_sound(resource, before, after, changed_parts(known or {}, status or {}))
    )


class _Loosened:
    """Replaces holes with loose holes, and back."""

    def __init__(self) -> None:
        self._loose: dict[int, LooseHole] = {}
        self._tight: dict[int, Symbol] = {}

    def __call__(self, symbol: Symbol) -> Symbol:
        if not isinstance(symbol, Hole):
            return symbol
        number = symbol.number
        self._tight[number] = symbol
        return self._loose.setdefault(number, LooseHole(number, symbol.content))

    def back(self, symbol: Symbol) -> Symbol:
        return self._tight[symbol.number] if isinstance(symbol, LooseHole) else symbol
