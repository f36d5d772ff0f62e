"""Caches the shapes of a kind's objects, and the plans for them."""

from collections import OrderedDict
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from kwokctl.controller.plans.plan import StagePlan, plan_of
from kwokctl.controller.plans.views import View, view_of
from kwokctl.controller.stages.compiled_stage import Stage
from kwokctl.kube.resource import Resource
from kwokctl.specialization.holes import HoleContent
from kwokctl.specialization.json_outline import OutlineReading, outline_of, reading_of
from kwokctl.specialization.ripening import Ripening
from kwokctl.specialization.shape import ObjectForm, Shape
from kwokctl.specialization.source import Functions, MisfitError

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
