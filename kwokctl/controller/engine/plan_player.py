"""Plays steps of a Stage with the plans for an object's shape."""

from collections.abc import Callable, Mapping
from typing import Any

from kwokctl.controller.engine.object_state import WrittenObject
from kwokctl.controller.engine.stage_events import about
from kwokctl.controller.plans.plan import StagePlan
from kwokctl.controller.plans.plans import Plans
from kwokctl.controller.stages.compiled_stage import Stage
from kwokctl.dataplane.events.object_event import ObjectEvent
from kwokctl.dataplane.port import DirectWriter, ObjectKey
from kwokctl.embedded.process_metrics import Metrics


class PlanPlayer:
    """Writes the result of a plan for an object."""

    def __init__(
        self, plans: Plans, direct: DirectWriter, metrics: Metrics, wall: Callable[[], float]
    ) -> None:
        """Write through `direct`; `wall` is the time of day for Events."""
        self._plans = plans
        self._direct = direct
        self._metrics = metrics
        self._wall = wall

    async def play(
        self,
        stage: Stage,
        step: int,
        uid: str,
        target: ObjectKey,
        seen: WrittenObject,
        functions: Mapping[str, Any],
    ) -> tuple[int, WrittenObject] | None:
        """Play the next steps of a Stage; return their number, and the result.

        None, with nothing done, if they must be played one by one. `seen` is the present object.
        Raises RequestError when the cluster refuses.
        """
        form, version = seen.form, seen.version
        assert form is not None
        try:
            found = self._plans.planned(form, stage, step, functions)
        except Exception:  # the error occurs again when the object is played without a plan
            return None
        if found is None:
            return None
        plan, after = found
        event = self._about(plan, uid, target, version)
        revision = await self._direct.store_whole(target, after.stored(), version, event)
        if revision is None:
            return None
        self._count(plan)
        return plan.steps, WrittenObject(revision, form=after)

    def _count(self, plan: StagePlan) -> None:
        if plan.event is not None:
            self._metrics.count("kwok_controller_writes_total", verb="event")
        self._metrics.count("kwok_controller_writes_total", verb="patch")

    def _about(
        self, plan: StagePlan, uid: str, target: ObjectKey, version: int
    ) -> ObjectEvent | None:
        if plan.event is None:
            return None
        return about(plan.event, target, uid, str(version), self._wall())
