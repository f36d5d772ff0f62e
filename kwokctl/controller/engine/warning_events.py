"""The warning Events about objects that the engine keeps."""

from kwokctl.controller.engine.object_state import ObjectState
from kwokctl.controller.object_warnings import COMPONENT
from kwokctl.dataplane.events.object_event import ObjectEvent
from kwokctl.kube.resource import Resource


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
