"""Finds out what becomes of pods: by plans as far as there are some, else by the function itself."""

from collections.abc import Callable, Mapping
from typing import Any

from kwokctl.controller.engine.hooks import Hooks
from kwokctl.controller.engine.object_state import ObjectState
from kwokctl.controller.lifecycle.admission.room import NodeRoom
from kwokctl.controller.lifecycle.containers.container import NEVER
from kwokctl.controller.lifecycle.ends import Eviction
from kwokctl.controller.lifecycle.life_plan import Moment
from kwokctl.controller.lifecycle.life_plans import LifePlans
from kwokctl.controller.lifecycle.outcome import FINAL, NodeOffer, PodMemory, PodOutcome
from kwokctl.controller.lifecycle.pod import sync
from kwokctl.controller.lifecycle.statuses import has_started, own_ips
from kwokctl.controller.plans.plans import Plans
from kwokctl.json_value import Json


class PodLooks:
    """What is kept of pods between the looks at them."""

    def __init__(
        self, hooks: Hooks[Any], room: NodeRoom, wall: Callable[[], float], plans: Plans | None
    ) -> None:
        """Look at pods at the time of day that is `wall`; those that are alike are known to `plans`."""
        self._hooks = hooks
        self._room = room
        self._wall = wall
        self._plans = LifePlans(plans) if plans is not None else None
        self._memories: dict[str, PodMemory] = {}
        self._evictions: dict[str, Eviction] = {}

    def outcome(self, state: ObjectState) -> PodOutcome:
        """Return what becomes of a pod now; raise ExpressionError where an annotation cannot be read."""
        return self._planned(state) or self.by_itself(state)

    def by_itself(self, state: ObjectState) -> PodOutcome:
        """Return the same without a plan."""
        memory = self._memories.get(state.uid)
        return sync(state.opened(), memory, self._wall(), self._place(state))

    def remember(self, state: ObjectState, outcome: PodOutcome) -> None:
        """Keep what the status does not say, after it was written."""
        memory = outcome.memory
        if memory is not None and (memory.levels or outcome.due < NEVER):
            self._memories[state.uid] = memory
        else:
            self._memories.pop(state.uid, None)

    def evict(self, state: ObjectState, message: str) -> None:
        """Let a pod come to its end."""
        self._evictions.setdefault(state.uid, Eviction(at=self._wall(), message=message))

    def count_in(self, state: ObjectState) -> None:
        """Keep what the node of a pod has left for others."""
        value = self._known(state)
        if value is None:
            value = state.opened()
        if not has_started(value):
            return
        if value["status"].get("phase") in FINAL:
            self.release(state)
        else:
            self._room.note(state.node, state.uid, value)

    def release(self, state: ObjectState) -> None:
        """Take note that a pod takes nothing of its node any more."""
        self._room.release(state.node, state.uid)

    def forget(self, state: ObjectState) -> None:
        """Take note that a pod is gone."""
        self._memories.pop(state.uid, None)
        self._evictions.pop(state.uid, None)
        self.release(state)

    def _known(self, state: ObjectState) -> Json:
        """Return a pod as far as it is like others; None if it is not."""
        if self._plans is None or state.form is None:
            return None
        return self._plans.pod(state.form)

    def _planned(self, state: ObjectState) -> PodOutcome | None:
        """Return what becomes of a pod like others of which nothing special is to be known."""
        value = self._known(state)
        if value is None or state.uid in self._evictions:
            return None
        assert state.form is not None
        assert self._plans is not None
        try:
            if not has_started(value) and self._room.refusal(state.node, state.uid, value):
                return None
            memory, functions = self._memories.get(state.uid), self._hooks.functions(state)
            return self._plans.outcome(state.form, Moment(self._wall(), memory, functions))
        except Exception:  # whatever it is, it comes again when the pod is looked at by itself
            return None

    def _place(self, state: ObjectState) -> NodeOffer:
        functions: Mapping[str, Any] = self._hooks.functions(state)
        value = state.opened()
        is_host = bool(value["spec"].get("hostNetwork"))
        pod = (state.node, is_host, state.uid, state.name, state.namespace)
        is_new = not has_started(value)
        return NodeOffer(
            host_ips=functions["NodeIPsWith"](state.node),
            pod_ips=own_ips(value, is_host=is_host) or functions["PodIPsWith"](*pod),
            refusal=self._room.refusal(state.node, state.uid, value) if is_new else None,
            eviction=self._evictions.get(state.uid),
        )
