"""The shapes of a kind's objects, and the plans for them; there is a bound for each."""

from collections import OrderedDict
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from kwokctl.controller.plans.plan import StagePlan, plan_of
from kwokctl.controller.plans.views import View, view_of
from kwokctl.controller.stages.model import Stage
from kwokctl.kube.resource import Resource
from kwokctl.specialization.holes import HoleContent
from kwokctl.specialization.outline import outline_of
from kwokctl.specialization.reading import OutlineReading, reading_of
from kwokctl.specialization.ripening import Ripening
from kwokctl.specialization.shape import ObjectForm, Shape
from kwokctl.specialization.source import Functions, MisfitError

_MOST = 512
"""Shapes, and plans: each takes some ten thousand bytes."""
_HOPELESS = 200
"""After so many objects in a row that are like no other one only some are looked at."""
_SOME = 16
_VARIANTS = 3
"""Plans for the same steps of objects of one shape."""


class Plans:
    """What is known of objects that are alike."""

    def __init__(self, resource: Resource) -> None:
        """Know nothing yet of the objects of `resource`."""
        self._resource = resource
        self._readings: Ripening[bytes, OutlineReading] = Ripening(_MOST)
        self._plans: Ripening[tuple[Shape, Stage, int, int], StagePlan] = Ripening(_MOST)
        self._shapes: OrderedDict[tuple[str, tuple[HoleContent, ...]], Shape] = OrderedDict()
        self._views: WeakKeyDictionary[Shape, tuple[Sequence[Stage], View | None]]
        self._views = WeakKeyDictionary()
        self._in_vain = 0
        """How many objects in a row were not like known ones."""

    def form(self, raw: bytes, words: tuple[str, str, str], version: int) -> ObjectForm | None:
        """Return an object, in compact JSON, as a form; None if no others are known to be alike.

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
        """Return what Stages see in an object; None if that is not the same for all that are alike."""
        shape = form.shape
        known = self._views.get(shape)
        if known is None or known[0] is not stages:
            known = self._views[shape] = stages, view_of(shape, stages)
        return known[1]

    def planned(
        self, form: ObjectForm, stage: Stage, step: int, functions: Functions
    ) -> tuple[StagePlan, ObjectForm] | None:
        """Return the plan for the next steps of a Stage, and what that makes of an object.

        None if it must be played. `functions` are those for its templates. Objects of one shape
        that differ in what these return, such as the number of addresses, have different plans.
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
        """Return the shape that is known already for an equal one, else this one."""
        key = shape.text, shape.contents
        found = self._shapes.setdefault(key, shape)
        self._shapes.move_to_end(key)
        if len(self._shapes) > _MOST:
            self._shapes.popitem(last=False)
        return found
