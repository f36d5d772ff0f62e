"""The plans for the function of a pod's life; there is a bound for them."""

from typing import NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

from kwokctl.controller.lifecycle.admission.claims import Claims, claims_of
from kwokctl.controller.lifecycle.containers.programs import ProgramRules
from kwokctl.controller.lifecycle.life_plan import LifePlan, PodLook, life_plan
from kwokctl.controller.lifecycle.outcome import FINAL, PodOutcome
from kwokctl.controller.lifecycle.statuses import has_started
from kwokctl.controller.plans import Plans
from kwokctl.errors import ExpressionError
from kwokctl.kube.stored_json import ObjectInJson
from kwokctl.specialization.ripening import Ripening
from kwokctl.specialization.shape import ObjectForm, Shape
from kwokctl.specialization.source import MisfitError

_MOST = 512
"""Plans: each takes some ten thousand bytes."""
_VARIANTS = 4
"""The number of plans for one shape: each is for pods with other decisions."""
_Levels: TypeAlias = tuple[tuple[str, int], ...] | None


class CommonPod(NamedTuple):
    """The facts that pods of one shape share."""

    pod: ObjectInJson
    """Its phase and its generations can be read."""
    has_started: bool
    claims: Claims


class LifePlans:
    """The plans for the lives of pods of one shape."""

    def __init__(self, plans: Plans, programs: ProgramRules = ()) -> None:
        """Know nothing yet; `plans` knows the shapes of pods."""
        self._shapes, self._programs = plans, programs
        self._plans: Ripening[tuple[Shape, _Levels, int], LifePlan] = Ripening(_MOST)
        self._common: WeakKeyDictionary[Shape, CommonPod | None] = WeakKeyDictionary()

    def common(self, form: ObjectForm) -> CommonPod | None:
        """Return what is the same for all pods that are alike; None if that is too little."""
        shape = form.shape
        try:
            return self._common[shape]
        except KeyError:
            found = self._common[shape] = _common(shape.value)
            return found

    def outcome(self, form: ObjectForm, moment: PodLook) -> PodOutcome | None:
        """Return the outcome for a pod; None if it must be computed by itself."""

        def made() -> LifePlan | None:
            return life_plan(form, moment, self._shapes.known, self._programs)

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


def _common(pod: ObjectInJson) -> CommonPod | None:
    """Return what can be read of a pod with symbols."""
    try:
        status, meta = pod.get("status") or {}, pod["metadata"]
        bool(meta.get("generation") == status.get("observedGeneration"))
        bool(status.get("phase") in FINAL)
        return CommonPod(pod, has_started(pod), claims_of(pod["spec"]))
    except (ExpressionError, TypeError, ValueError, AttributeError, KeyError):
        return None
