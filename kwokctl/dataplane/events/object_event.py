"""The Event about one object, as fake kubelets create it."""

import msgspec

from kwokctl.expr.duration import format_time
from kwokctl.json_value import Json
from kwokctl.kube.resource import EVENTS, Resource

_DEFAULT = "default"
"""The namespace of Events about objects without a namespace."""


class ObjectEvent(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An Event about an object; a repetition is the same Event with a higher count."""

    resource: Resource
    """The object's resource; the next four fields also describe the object."""
    about_namespace: str
    """Empty for an object without a namespace."""
    about: str
    """The object's name."""
    uid: str
    version: str
    field: str = ""
    """The path of the part of the object that the Event is about; empty for the whole object."""
    type: str
    reason: str
    message: str
    component: str
    """The component that reports it."""
    at: float
    """The time of the Event as a POSIX time stamp."""
    first: float = 0.0
    """The time of its first occurrence; 0 if this is the first."""
    count: int = 1

    @property
    def namespace(self) -> str:
        """The namespace of the Event."""
        return self.about_namespace or _DEFAULT

    @property
    def name(self) -> str:
        """The object's name with the time of the first occurrence: no two Events share a nanosecond."""
        return f"{self.about}.{int((self.first or self.at) * 1e9):x}"

    @property
    def second(self) -> int:
        """The time of the Event in whole seconds."""
        return round(self.at * 1e6) // 1_000_000

    @property
    def first_second(self) -> int:
        """The time of its first occurrence in whole seconds."""
        return round((self.first or self.at) * 1e6) // 1_000_000

    def document(self) -> dict[str, Json]:
        """Return the Event as the API expects it."""
        stamp = format_time(self.second)
        return {
            "apiVersion": EVENTS.api_version,
            "kind": EVENTS.kind,
            "metadata": {"name": self.name, "namespace": self.namespace},
            "involvedObject": {
                "apiVersion": self.resource.api_version,
                "kind": self.resource.kind,
                "name": self.about,
                "namespace": self.about_namespace,
                "uid": self.uid,
                "resourceVersion": self.version,
                **({"fieldPath": self.field} if self.field else {}),
            },
            "type": self.type,
            "reason": self.reason,
            "message": self.message,
            "source": {"component": self.component},
            "reportingComponent": self.component,
            "firstTimestamp": format_time(self.first_second),
            "lastTimestamp": stamp,
            "count": self.count,
        }

    def repetition(self) -> dict[str, Json]:
        """Return the merge patch for a repetition."""
        return {"count": self.count, "lastTimestamp": format_time(self.second)}
