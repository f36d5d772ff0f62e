"""An Event about one object, as fake kubelets create it."""

import msgspec

from kwokctl.expr.duration import format_time
from kwokctl.json_value import Json
from kwokctl.kube.resource import EVENTS, Resource

_DEFAULT = "default"
"""The namespace of Events about objects that are in none."""


class ObjectEvent(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What has happened to an object; each is an Event of its own, with a count of 1."""

    resource: Resource
    """Of the object, as are the next four."""
    about_namespace: str
    """Empty for an object that is in none."""
    about: str
    """The object's name."""
    uid: str
    version: str
    type: str
    reason: str
    message: str
    component: str
    """What reports it."""
    at: float
    """As a POSIX time stamp."""

    @property
    def namespace(self) -> str:
        """The namespace that it is in."""
        return self.about_namespace or _DEFAULT

    @property
    def name(self) -> str:
        """The name of the object, and when it was: two do not happen in the same nanosecond."""
        return f"{self.about}.{int(self.at * 1e9):x}"

    @property
    def second(self) -> int:
        """When it was, in whole seconds."""
        return round(self.at * 1e6) // 1_000_000

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
            },
            "type": self.type,
            "reason": self.reason,
            "message": self.message,
            "source": {"component": self.component},
            "reportingComponent": self.component,
            "firstTimestamp": stamp,
            "lastTimestamp": stamp,
            "count": 1,
        }
