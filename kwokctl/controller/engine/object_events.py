"""The Events about the objects of an engine: those of the steps of Stages, and the controller's warnings."""

from kwokctl.controller.engine.object_state import ObjectState
from kwokctl.controller.object_warnings import COMPONENT
from kwokctl.controller.stages.compiled_stage import EventStep
from kwokctl.dataplane.events.object_event import ObjectEvent
from kwokctl.dataplane.port import ObjectKey
from kwokctl.kube.resource import Resource


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


def warning_of(
    resource: Resource, state: ObjectState, *, reason: str, message: str, at: float
) -> ObjectEvent:
    """Return the Event about an object of a resource."""
    return ObjectEvent(
        resource=resource,
        about_namespace=state.namespace,
        about=state.name,
        uid=state.uid,
        version=str(state.version),
        type="Warning",
        reason=reason,
        message=message,
        component=COMPONENT,
        at=at,
    )
