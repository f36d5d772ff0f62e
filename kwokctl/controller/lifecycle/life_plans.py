"""The plans for the function of a pod's life; there is a bound for them."""

from typing import TypeAlias
from weakref import WeakKeyDictionary

from kwokctl.controller.lifecycle.admission.requests import requests_of
from kwokctl.controller.lifecycle.life_plan import LifePlan, Moment, life_plan
from kwokctl.controller.lifecycle.outcome import FINAL, PodMemory, PodOutcome
from kwokctl.controller.lifecycle.statuses import has_started
from kwokctl.controller.plans.plans import Plans
from kwokctl.controller.plans.ripening import Ripening
from kwokctl.controller.plans.shape import ObjectForm, Shape
from kwokctl.controller.plans.source import MisfitError
from kwokctl.errors import ExpressionError
from kwokctl.json_value import Json

_MOST = 512
"""Plans: each takes some ten thousand bytes."""
_VARIANTS = 4
"""Plans for pods of one shape of which other things are decided."""
_Levels: TypeAlias = tuple[tuple[str, int], ...] | None


class LifePlans:
    """What is known of the lives of pods that are alike."""

    def __init__(self, plans: Plans) -> None:
        """Know nothing yet; `plans` knows the shapes of pods."""
        self._shapes = plans
        self._plans: Ripening[tuple[Shape, _Levels, int], LifePlan] = Ripening(_MOST)
        self._readable: WeakKeyDictionary[Shape, bool] = WeakKeyDictionary()

    def pod(self, form: ObjectForm) -> Json:
        """Return a pod as far as it is the same for all that are alike; None if that is too little.

        It says whether the pod has been started, whether it has ended, and what it requests.
        """
        shape = form.shape
        is_readable = self._readable.get(shape)
        if is_readable is None:
            is_readable = self._readable[shape] = _is_readable(shape.value)
        return shape.value if is_readable else None

    def outcome(self, form: ObjectForm, moment: Moment) -> PodOutcome | None:
        """Return what becomes of a pod; None if it must be looked at by itself."""

        def made() -> LifePlan | None:
            return life_plan(form, moment, self._shapes.known)

        memory = moment.memory
        if memory is not None and memory.arrived:
            return None
        levels = None if memory is None else tuple(memory.levels.items())
        for variant in range(_VARIANTS):
            plan = self._plans.get((form.shape, levels, variant), made)
            if plan is None:
                return None
            try:
                return plan.outcome(form, moment)
            except MisfitError:
                continue
        return None


def _is_readable(pod: Json) -> bool:
    """Return whether nothing of it is another thing for each pod."""
    try:
        status, meta = pod.get("status") or {}, pod["metadata"]
        bool(meta.get("generation") == status.get("observedGeneration"))
        return {status.get("phase") in FINAL, has_started(pod)} <= {True, False} and (
            requests_of(pod["spec"]) is not None
        )
    except (ExpressionError, TypeError, ValueError, AttributeError, KeyError):
        return False
