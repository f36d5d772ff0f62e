"""Warns of pods with a label for a Stage that plays none of them, because they live as on a kubelet."""

import re
from collections.abc import Callable

from kwokctl.controller.engine.object_events import warning_of
from kwokctl.controller.engine.object_state import ObjectState
from kwokctl.controller.object_warnings import ObjectWarnings
from kwokctl.controller.stages.lives import LIFE, STAGES
from kwokctl.dataplane.events.object_event import ObjectEvent
from kwokctl.kube.resource import PODS

_LABEL = re.compile(rb'"([a-z0-9.-]+\.stage\.kwok\.x-k8s\.io)":"true"')
"""As the API server writes it: annotations of Stages have a slash behind that."""
_REASON = "LabelIgnored"


class IgnoredLabels:
    """The pods that were warned of; most have no such label, and cost one look at their bytes."""

    def __init__(self, warnings: ObjectWarnings, wall: Callable[[], float]) -> None:
        self._warnings = warnings
        self._wall = wall
        self._told: set[str] = set()

    def look(self, state: ObjectState) -> None:
        """Warn of a pod, once."""
        if state.raw is None or state.uid in self._told:
            return
        if (found := _LABEL.search(state.raw)) is not None:
            self._told.add(state.uid)
            self._warnings.put(self._event(state, found[1].decode()))

    def forget(self, uid: str) -> None:
        """Note that a pod is gone."""
        self._told.discard(uid)

    def _event(self, state: ObjectState, label: str) -> ObjectEvent:
        message = (
            f"The label '{label}' is for a Stage, which does not play a pod that lives as on a kubelet: "
            f"annotate it with '{LIFE}: {STAGES}', or say what its containers do with "
            "'kwokctl.dev/program'"
        )
        return warning_of(PODS, state, reason=_REASON, message=message, at=self._wall())
