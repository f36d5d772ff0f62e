"""Warns of faults that have no effect on a pod that they mean, once for each pod and reason."""

from collections import defaultdict
from collections.abc import Callable, Collection

from kwokctl.controller.engine.object_events import warning_of
from kwokctl.controller.engine.object_state import ObjectState
from kwokctl.controller.object_warnings import ObjectWarnings
from kwokctl.kube.resource import PODS

_REASON = "FaultWithoutEffect"
OF_ANNOTATION = "AnnotationIgnored"


class IgnoredFaults:
    """The warnings that pods have had."""

    def __init__(self, warnings: ObjectWarnings, wall: Callable[[], float]) -> None:
        """Put Events into `warnings`, with the time of day that is `wall`."""
        self._warnings = warnings
        self._wall = wall
        self._told: defaultdict[str, set[str]] = defaultdict(set)

    def tell(self, state: ObjectState, reasons: Collection[str], of: str = _REASON) -> None:
        """Warn of those reasons that a pod was not warned of; `of` is the reason of the Events."""
        told = self._told[state.uid]
        for each in reasons:
            if each not in told:
                told.add(each)
                event = warning_of(PODS, state, reason=of, message=each, at=self._wall())
                self._warnings.put(event)

    def forget(self, uid: str) -> None:
        """Note that a pod is gone."""
        self._told.pop(uid, None)
