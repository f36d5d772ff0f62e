"""The Events of Stages' steps."""

from kwokctl.controller.object_warnings import COMPONENT
from kwokctl.controller.stages.compiled_stage import EventStep
from kwokctl.dataplane.events.object_event import ObjectEvent
from kwokctl.dataplane.port import ObjectKey


def about(step: EventStep, target: ObjectKey, uid: str, version: str, at: float) -> ObjectEvent:
    """Return the Event of a step about an object in a version, at a time of day."""
    return ObjectEvent(
        resource=target.resource,
        about_namespace=target.namespace or "",
        about=target.name,
        uid=uid,
        version=version,
        type=step.type or "Normal",
        reason=step.reason,
        message=step.message,
        component=COMPONENT,
        at=at,
    )
