"""Plays that were proven once for all objects that are alike: only what differs is computed for each.

A plan is the effect of a Stage's patch of the status on all objects of a shape. A view has the Stages that match them,
and the sources of the delays. The number of shapes is bounded, and the number of plans.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from weakref import WeakKeyDictionary

import msgspec

from kwokctl.controller.stages import symbolic_matching
from kwokctl.controller.stages.compiled_stage import Delay, EventStep, PatchStep, Stage, Step
from kwokctl.controller.stages.patch_root import rooted
from kwokctl.controller.stages.selectors import FieldQuery
from kwokctl.controller.stages.stage_choice import Basis, basis
from kwokctl.controller.stages.stage_functions import KNOWN
from kwokctl.dataplane.status_change import is_of_status
from kwokctl.errors import ExpressionError
from kwokctl.expr.gotemplate.symbols import Symbol, refuse
from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType
from kwokctl.kube.patching.apply_patch import apply_patch
from kwokctl.kube.resource import Resource
from kwokctl.kube.statuses import changed_parts
from kwokctl.replacing import replace
from kwokctl.specialization.holes import Hole, HoleContent, LooseHole, mapped
from kwokctl.specialization.json_outline import OutlineReading, outline_of, reading_of
from kwokctl.specialization.ripening import Ripening
from kwokctl.specialization.shape import ObjectForm, Shape
from kwokctl.specialization.soundness import is_sound
from kwokctl.specialization.source import Compute, Functions, MisfitError, Source

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


_MOST = 512
"""The most cached shapes, and plans: each takes some ten thousand bytes."""
_HOPELESS = 200
"""Objects in a row without a known shape, after which only a sample of objects is examined."""
_SOME = 16
_VARIANTS = 3
"""The most plans for the same steps of objects of one shape."""


class Plans:
    """The known shapes of objects, with their plans."""

    def __init__(self, resource: Resource) -> None:
        """Know nothing yet of the objects of `resource`."""
        self._resource = resource
        self._readings: Ripening[bytes, OutlineReading] = Ripening(_MOST)
        self._plans: Ripening[tuple[Shape, Stage, int, int], StagePlan] = Ripening(_MOST)
        self._shapes: OrderedDict[tuple[str, tuple[HoleContent, ...]], Shape] = OrderedDict()
        self._views: WeakKeyDictionary[Shape, tuple[Sequence[Stage], View | None]]
        self._views = WeakKeyDictionary()
        self._in_vain = 0
        """The number of objects in a row without a known shape."""

    def form(self, raw: bytes, words: tuple[str, str, str], version: int) -> ObjectForm | None:
        """Return an object, given as compact JSON, as a form; None if its shape is not known.

        `words` are its name, uid and node.
        """
        self._in_vain += 1
        if self._in_vain > _HOPELESS and self._in_vain % _SOME:
            return None
        outline = outline_of(raw, words, version)
        if outline is None:
            return None
        reading = self._readings.get(
            outline.text, lambda: reading_of(self._resource, outline, self.known)
        )
        if reading is None:
            return None
        self._in_vain = 0
        return ObjectForm(reading.shape, reading.holes(outline.holes))

    def view(self, form: ObjectForm, stages: Sequence[Stage]) -> View | None:
        """Return the view that Stages have of an object's shape; None if objects of the shape differ in it."""
        shape = form.shape
        known = self._views.get(shape)
        if known is None or known[0] is not stages:
            known = self._views[shape] = stages, view_of(shape, stages)
        return known[1]

    def planned(
        self, form: ObjectForm, stage: Stage, step: int, functions: Functions
    ) -> tuple[StagePlan, ObjectForm] | None:
        """Return the plan for the next steps of a Stage, and the object as it is afterwards.

        None if there is no plan for it. `functions` are those for its templates. Objects of one shape for which
        these return different kinds of values, such as another number of addresses, have different plans.
        """

        def made() -> StagePlan | None:
            return plan_of(self._resource, stage.steps[step:], form, functions, self.known)

        for variant in range(_VARIANTS):
            plan = self._plans.get((form.shape, stage, step, variant), made)
            if plan is None:
                return None
            try:
                return plan, plan.form(form, functions)
            except MisfitError:
                continue
        return None

    def known(self, shape: Shape) -> Shape:
        """Return the cached shape that equals a shape, else the shape itself."""
        key = shape.text, shape.contents
        found = self._shapes.setdefault(key, shape)
        self._shapes.move_to_end(key)
        if len(self._shapes) > _MOST:
            self._shapes.popitem(last=False)
        return found
