"""The plans for the function of a pod's life: traced on one pod, for all that are alike.

Their number is bounded.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import msgspec

from kwokctl.controller.lifecycle.admission.claims import Claims, claims_of
from kwokctl.controller.lifecycle.containers.find_program import ProgramRules
from kwokctl.controller.lifecycle.device_status import as_claimed, healthy_in
from kwokctl.controller.lifecycle.moments import written_moment
from kwokctl.controller.lifecycle.outcome import FINAL, NodeOffer, PodMemory, PodOutcome
from kwokctl.controller.lifecycle.pod import sync
from kwokctl.controller.lifecycle.pod_events import PodEvent
from kwokctl.controller.lifecycle.pod_faults.gang_strikes import GANG_FAULTS
from kwokctl.controller.lifecycle.statuses import has_started, own_ips, status_patch
from kwokctl.controller.plans import Plans
from kwokctl.controller.stages.stage_functions import KNOWN
from kwokctl.errors import ExpressionError
from kwokctl.expr.gotemplate.symbols import Symbol, refuse
from kwokctl.json_value import Json
from kwokctl.kube.resource import PODS
from kwokctl.kube.stored_json import ObjectInJson
from kwokctl.replacing import replace
from kwokctl.specialization.holes import mapped
from kwokctl.specialization.ripening import Ripening
from kwokctl.specialization.shape import ObjectForm, Shape
from kwokctl.specialization.soundness import is_sound
from kwokctl.specialization.source import Compute, Functions, MisfitError, Source
from kwokctl.training.pace import PROGRESS
from kwokctl.training.plan import STEPS
from kwokctl.training.preflight import PREFLIGHT

_FUNCTIONS = ("NodeIPsWith", "PodIPsWith")
DEVICES_OF = "DevicesOf"
"""The function that returns the devices of a pod that asks for some and starts; pods without have none such."""
_NAMES = KNOWN._replace(
    of_the_moment=frozenset({*KNOWN.of_the_moment, DEVICES_OF}), texts=frozenset({DEVICES_OF})
)
_NOTHING: Mapping[str, int] = {}
BY_ITSELF = frozenset({GANG_FAULTS, PROGRESS, STEPS, PREFLIGHT})
"""The annotations of pods that faults have met, or that train with others: each of them is looked at by itself."""


class PodLook(NamedTuple):
    """The inputs of the function beside the pod, where nothing is special about the pod."""

    now: float
    memory: PodMemory | None
    functions: Functions
    """Those that return addresses."""


class LifePlan(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome for all pods of a shape for which every decision is the same."""

    compute: Compute
    shape: Shape | None
    """The one that pods have afterwards; None if they stay as they are."""
    events: tuple[PodEvent, ...]
    spoken: tuple[int, ...]
    """Those Events whose message differs between the pods."""
    deletes: bool
    levels: Mapping[str, int] | None
    """Those of the memory; None if there is none."""

    def outcome(self, form: ObjectForm, moment: PodLook) -> PodOutcome:
        """Return the outcome for a pod; MisfitError, or another error, if it must be computed by itself."""
        now, memory, functions = moment
        texts, (due, *messages) = self.compute(
            form.holes, functions, now, now if memory is None else memory.at
        )
        return PodOutcome(
            form=None if self.shape is None else ObjectForm(self.shape, texts),
            due=due,
            events=self._events(messages) if messages else self.events,
            deletes=self.deletes,
            memory=None if self.levels is None else PodMemory(now, self.levels),
        )

    def _events(self, messages: list[str]) -> tuple[PodEvent, ...]:
        events = list(self.events)
        for at, message in zip(self.spoken, messages, strict=True):
            events[at] = replace(events[at], message=message)
        return tuple(events)


def life_plan(
    form: ObjectForm,
    moment: PodLook,
    known: Callable[[Shape], Shape],
    programs: ProgramRules = (),
) -> LifePlan | None:
    """Return the plan for pods like one of them; None if its outcome cannot be traced.

    `known` returns the shape that is known already for an equal one.
    """
    try:
        return _traced(form, moment, known, programs)
    except (ExpressionError, TypeError, ValueError, AttributeError, KeyError):
        return None


def _traced(
    form: ObjectForm, moment: PodLook, known: Callable[[Shape], Shape], programs: ProgramRules
) -> LifePlan:
    shape, memory = form.shape, moment.memory
    numbers = {"now": moment.now, "at": moment.now if memory is None else memory.at}
    source = Source(
        shape.holes, form.holes, moment.functions, _NAMES, numbers, times=(written_moment,)
    )
    pod, now = source.opened(shape.value), source.number("now")
    if memory is not None:
        memory = memory._replace(at=source.number("at"))
    place = _place(pod, source.functions(_FUNCTIONS), programs)
    if DEVICES_OF in moment.functions and not has_started(pod):
        ids = source.functions((DEVICES_OF,))[DEVICES_OF](pod["metadata"]["uid"])
        place = replace(place, devices=as_claimed(claims_of(pod["spec"]).devices, ids))
    outcome = sync(pod, memory, now, place)
    after = None if outcome.status is None else _after(pod, outcome.status, source)
    own = [at for at, each in enumerate(outcome.events) if _is_symbol(each.message)]
    compute = source.compute(
        () if after is None else after.sources,
        (outcome.due, *(outcome.events[at].message for at in own)),
    )
    return LifePlan(
        compute=compute,
        shape=None if after is None else known(after),
        events=outcome.events,
        spoken=tuple(own),
        deletes=outcome.deletes,
        levels=None if outcome.memory is None else _levels(outcome.memory, now),
    )


def _place(
    pod: ObjectInJson, functions: Mapping[str, Callable[..., Any]], programs: ProgramRules
) -> NodeOffer:
    meta, spec = pod["metadata"], pod["spec"]
    is_host = bool(spec.get("hostNetwork"))
    words = (spec["nodeName"], is_host, meta["uid"], meta["name"], meta["namespace"])
    return NodeOffer(
        host_ips=functions["NodeIPsWith"](spec["nodeName"]),
        pod_ips=own_ips(pod, is_host=is_host) or functions["PodIPsWith"](*words),
        programs=programs,
    )


def _is_symbol(value: object) -> bool:
    return isinstance(value, Symbol)


def _levels(memory: PodMemory, now: object) -> Mapping[str, int]:
    if memory.arrived or memory.blocked or memory.at is not now:
        refuse()
    return dict(memory.levels) or _NOTHING


def _after(pod: ObjectInJson, status: Json, source: Source) -> Shape:
    """Return the shape of pods with another status; NotSymbolicError if it might be refused."""
    patch = status_patch(pod, status)
    before, after = (
        {name: mapped(value.get(name), source.hole) for name in ("spec", "status")}
        for value in (pod, patch.result or {})
    )
    if not is_sound(PODS, before, after, patch.document["status"], patch.kept):
        refuse()
    return Shape(PODS, mapped(patch.result, source.hole_of_traced))


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
    devices: int
    """The number of devices in the status; -1 if one is not healthy."""
    has_claims: bool
    """Whether they have ResourceClaims."""


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
        if memory is not None and (memory.arrived or memory.blocked):
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
        if not BY_ITSELF.isdisjoint(meta.get("annotations") or ()):
            return None
        bool(meta.get("generation") == status.get("observedGeneration"))
        bool(status.get("phase") in FINAL)
        claims = claims_of(pod["spec"])
        if any(type(claim.container) is not str for claim in claims.devices):
            return None  # the name of the pod, or another text of its own: the table needs that of each pod
        devices = healthy_in(pod) if claims.devices else 0
        return CommonPod(pod, has_started(pod), claims, devices, "resourceClaims" in pod["spec"])
    except (ExpressionError, TypeError, ValueError, AttributeError, KeyError):
        return None
