"""The port through which fake kubelets and `scale` write to a cluster.

One call is one object. Whatever implements it may have many calls in flight and must keep each
object's writes in the order of its calls. A write computed from an older copy of an object must
never undo what others have written since: patches touch only what they name.
"""

from dataclasses import dataclass
from typing import Protocol

from kwokctl.kube.client import PatchType
from kwokctl.kube.resource import Resource


@dataclass(frozen=True, slots=True)
class Target:
    """One object of a cluster."""

    resource: Resource
    namespace: str | None
    name: str


class DataPlane(Protocol):
    """Where fake kubelets and `scale` write.

    Bodies are JSON. Every method raises ApiError when the cluster refuses, with its reason.
    `as_user` does a write as somebody else, which the cluster must allow.
    """

    async def create(
        self, resource: Resource, namespace: str | None, body: bytes, *, as_user: str = ""
    ) -> bytes:
        """Create one object, status included where the kind keeps it, and return it as stored."""
        ...

    async def patch(
        self,
        target: Target,
        body: bytes,
        patch_type: PatchType,
        *,
        subresource: str = "",
        as_user: str = "",
    ) -> bytes:
        """Patch one object, or its subresource, and return it as stored."""
        ...

    async def replace(self, target: Target, body: bytes) -> bytes:
        """Replace one object; a `resourceVersion` in the body makes it conditional."""
        ...

    async def delete(
        self, target: Target, *, grace_seconds: int | None = None, uid: str | None = None
    ) -> None:
        """Delete one object, only the one with this `uid` if given; finalizers are honoured."""
        ...

    async def close(self) -> None:
        """Finish what is under way and let the connections go."""
        ...
