"""An Event about one object, as fake kubelets create it."""

import msgspec

from kwokctl.expr.duration import format_time
from kwokctl.json_value import Json
from kwokctl.kube.resource import EVENTS, Resource

_DEFAULT = "default"
"""The namespace of Events about objects that are in none."""


class ObjectEvent(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What has happened to an object; one that happens again is the same Event with a higher count."""

    resource: Resource
    """Of the object, as are the next four."""
    about_namespace: str
    """Empty for an object that is in none."""
    about: str
    """The object's name."""
    uid: str
    version: str
    field: str = ""
    """The path of the part of the object that it is about; empty for the whole."""
    type: str
    reason: str
    message: str
    component: str
    """What reports it."""
    at: float
    """As a POSIX time stamp."""
    first: float = 0.0
    """When it was for the first time; 0 if this is the first time."""
    count: int = 1

    @property
    def namespace(self) -> str:
        """The namespace that it is in."""
        return self.about_namespace or _DEFAULT

    @property
    def name(self) -> str:
        """The name of the object, and when it was first: two do not happen in the same nanosecond."""
        return f"{self.about}.{int((self.first or self.at) * 1e9):x}"

    @property
    def second(self) -> int:
        """When it was, in whole seconds."""
        return round(self.at * 1e6) // 1_000_000

    @property
    def first_second(self) -> int:
        """When it was for the first time, in whole seconds."""
        return round((self.first or self.at) * 1e6) // 1_000_000

    def document(self) -> dict[str, Json]:
        """Return it as the API expects it."""
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
        """Return what a repetition changes, as a merge patch."""
        return {"count": self.count, "lastTimestamp": format_time(self.second)}
