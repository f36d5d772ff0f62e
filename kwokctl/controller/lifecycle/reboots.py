"""Writes what a reboot of their machine has made of pods of Stages, before the Stages go on."""

from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.engine.conduct_turn import ConductTurn
from kwokctl.controller.engine.object_state import ObjectState, WrittenObject, answered
from kwokctl.controller.lifecycle.looks import PodLooks
from kwokctl.controller.lifecycle.outcome import Absence
from kwokctl.controller.lifecycle.reboot import restarted
from kwokctl.controller.lifecycle.statuses import status_patch
from kwokctl.dataplane.port import ObjectKey
from kwokctl.kube.resource import PODS
from kwokctl.kube.stored_json import ObjectInJson


class Reboots:
    """The conduct of pods of Stages whose machine was started anew."""

    turn = ConductTurn("reboot")

    def __init__(self, looks: PodLooks, context: ControllerContext) -> None:
        """Recover pods from the reboots that `looks` know of."""
        self._looks = looks
        self._context = context

    def concerns(self, state: ObjectState) -> bool:
        """Return whether Stages have to wait until what a reboot has done to a pod was written."""
        absence = self._looks.rebooted(state.uid)
        if absence is None or _is_recovered(state.opened(), absence):
            self._looks.caught_up(state.uid)
            return False
        return True

    def look(self, state: ObjectState) -> float:
        """Write it now."""
        return 0.0

    def put_off(self, state: ObjectState) -> None:
        """Write it later: nothing is kept for it."""

    async def play(self, state: ObjectState) -> WrittenObject:
        """Write what a reboot has made of a pod."""
        value, absence = state.opened(), self._looks.rebooted(state.uid)
        if absence is None:
            return WrittenObject(state.version)
        patch = status_patch(value, restarted(value, absence.until))
        target = ObjectKey(PODS, state.namespace or None, state.name)
        answer = await self._context.plane.patch(target, patch, current=value)
        self._context.metrics.count("kwok_controller_writes_total", verb="patch")
        self._looks.caught_up(state.uid)
        return answered(answer)

    async def report(self, state: ObjectState, written: WrittenObject) -> None:
        """Let the pod be looked at: there is nothing to report."""

    def after(self, state: ObjectState) -> None:
        """Go on with what the pod is now: nothing is kept of a reboot."""

    def leave(self, state: ObjectState) -> None:
        """Leave the pod to what comes next: nothing is kept of a reboot."""

    def forget(self, state: ObjectState) -> None:
        """Note that a pod is gone: `PodLooks` forgets its reboot."""


def _is_recovered(pod: ObjectInJson, absence: Absence) -> bool:
    """Return whether a reboot makes nothing else of a pod of Stages."""
    return bool(restarted(pod, absence.until) == (pod.get("status") or {}))
