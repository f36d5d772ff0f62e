"""What tests of overlays have in common: signals of faults, and nodes that a client has changed."""

from typing import Any

from kwokctl.faults.classes.class_schema import FaultCondition, FaultSignal, FaultTaint
from tests.support.faults import NOON

LATER, LATEST = NOON + 60, NOON + 120


def says(
    kind: str, status: Any = None, *, reason: str = "Bad", message: str = "bad"
) -> FaultSignal:
    return FaultSignal(
        conditions=(FaultCondition(type=kind, status=status, reason=reason, message=message),)
    )


def taints(key: str, effect: Any = "NoSchedule", *, value: str = "") -> FaultSignal:
    return FaultSignal(taints=(FaultTaint(key=key, value=value, effect=effect),))


def of_type(found: Any, kind: str) -> Any:
    return next((each for each in found["status"]["conditions"] if each["type"] == kind), None)
