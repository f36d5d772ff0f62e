"""How the controller looks at single objects, beside what it watches."""

from collections.abc import Sequence
from typing import Protocol

from kwokctl.dataplane.port import Target
from kwokctl.kube.resource import Resource


class Reader(Protocol):
    """Reads objects as JSON. Every method raises ApiError when the cluster refuses."""

    async def get(self, target: Target) -> bytes:
        """Return one object as it is now."""
        ...

    async def list(
        self, resource: Resource, *, namespace: str = "", field_selector: str = ""
    ) -> Sequence[bytes]:
        """Return the objects of a kind, each as JSON without `apiVersion` and `kind`."""
        ...

    async def resolve(self, api_version: str, kind: str) -> Resource:
        """Find the resource that serves a kind; NotFoundError if there is none."""
        ...
