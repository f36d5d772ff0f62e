"""The reasons for which a pod ends before its containers end by themselves."""

from collections.abc import Mapping
from typing import Any

import msgspec

from kwokctl.controller.lifecycle.moments import read_moment
from kwokctl.controller.lifecycle.pod_events import PodEvent
from kwokctl.json_value import Json
from kwokctl.kube.stored_json import ObjectInJson

EVICTED = "Evicted"
UNEXPECTED = "UnexpectedAdmissionError"
"""The reason of a pod that a node has admitted without what it needs."""
_DEADLINE = "DeadlineExceeded"
_TOO_LONG = "Pod was active on the node longer than the specified deadline"
_EVICTION_GRACE = 1.0
"""Seconds that the containers of a pod have which is evicted at once."""


class Eviction(msgspec.Struct, frozen=True, kw_only=True):
    """That a node has to get rid of a pod."""

    at: float
    """Since when, as a POSIX time stamp."""
    message: str
    reason: str = EVICTED


class PodEnd(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a pod: the time of the signal, the grace period, and the status afterwards."""

    at: float
    grace: float
    reason: str = ""
    """Empty if the pod has not failed by it."""
    message: str = ""

    is_natural: bool = False
    """Whether its containers have ended by themselves."""

    def is_reported(self, until: float, *, is_announced: bool) -> bool:
        """Return whether its Event has been written: a status announces every end but an eviction.

        `until` is up to when Events have been.
        """
        return until >= self.at if self.reason == EVICTED else is_announced

    @property
    def said(self) -> str:
        """The message in the status of the pod."""
        return rejected(self.message) if self.reason == UNEXPECTED else self.message

    @property
    def event(self) -> PodEvent:
        """The Event that reports it."""
        return PodEvent(
            type="Normal" if self.reason == _DEADLINE else "Warning",
            reason=self.reason,
            message=self.message,
        )


def end_of(
    pod: ObjectInJson,
    status: Mapping[str, Any],
    now: float,
    grace: float,
    eviction: Eviction | None,
) -> PodEnd | None:
    """Return why a pod ends now; None if there is no reason beside its containers."""
    meta = pod["metadata"]
    if deleted := meta.get("deletionTimestamp"):
        left = float(meta.get("deletionGracePeriodSeconds") or 0)
        return PodEnd(at=read_moment(deleted) - left, grace=left)
    if eviction is not None:
        message = eviction.message
        return PodEnd(
            at=eviction.at, grace=_EVICTION_GRACE, reason=eviction.reason, message=message
        )
    deadline = deadline_of(pod, status)
    if deadline is not None and now >= deadline:
        return PodEnd(at=deadline, grace=grace, reason=_DEADLINE, message=_TOO_LONG)
    return None


def not_ending(why: str) -> PodEvent:
    """Return the Event that reports of a pod that its containers do not end."""
    message = f"error killing pod: {why or 'context deadline exceeded'}"
    return PodEvent(type="Warning", reason="FailedKillPod", message=message)


def rejected(message: str) -> str:
    """Return the message in the status of a pod that its node does not admit."""
    return f"Pod was rejected: {message}"


def deadline_of(pod: ObjectInJson, status: Mapping[str, Any]) -> float | None:
    """Return until when a pod may be active."""
    seconds = pod["spec"].get("activeDeadlineSeconds")
    return None if seconds is None else read_moment(status["startTime"]) + float(seconds)


def disruption(end: PodEnd, generation: int | None, at: str) -> dict[str, Json]:
    """Return the condition of a pod that was evicted."""
    observed = {"observedGeneration": generation} if generation else {}
    return {
        "type": "DisruptionTarget",
        "status": "True",
        **observed,
        "reason": "TerminationByKubelet",
        "message": end.message,
        "lastTransitionTime": at,
    }
