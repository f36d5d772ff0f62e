"""The port through which fake kubelets and `scale` write to a cluster.

Whatever implements it may have many calls in flight and must keep each object's writes in the order
of its calls. A write computed from an older copy of an object must never undo what others have
written since.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from kwokctl.dataplane.leases.decode import StoredLease
from kwokctl.dataplane.leases.encode import Lease
from kwokctl.errors import ApiError
from kwokctl.kube.client import PatchType
from kwokctl.kube.resource import Resource

Json = Any


class Target(msgspec.Struct, frozen=True, gc=False):
    """One object of a cluster."""

    resource: Resource
    namespace: str | None
    name: str


class Patch(msgspec.Struct, frozen=True, kw_only=True):
    """What is to change of one object."""

    document: Json
    type: PatchType
    subresource: str = ""
    as_user: str = ""
    """Who does it, if not we; the cluster must allow that."""


class Renewal(msgspec.Struct, frozen=True):
    """A node's lease as it is to be."""

    node: str
    version: str
    """The resourceVersion that it builds on; empty if there is no lease yet."""
    lease: Lease
    """With `uid` and `creationTimestamp` if it exists."""


class Renewed(msgspec.Struct, frozen=True):
    """What has become of a renewal."""

    version: str = ""
    """The resourceVersion of the lease that was written; empty if none was."""
    found: StoredLease | None = None
    """The lease as it is now: ours if it was created, or that of somebody who wrote before us."""
    error: ApiError | None = None


class DataPlane(Protocol):
    """Where fake kubelets and `scale` write.

    Every method raises ApiError when the cluster refuses, with its reason: `Conflict` for a write
    that builds on an older copy. `current` is the object as it is known; who has it gives it, since
    some implementations can do with it in one step what otherwise takes the API server's help.
    """

    leases_at_once: int
    """How many renewals go together best."""

    async def create(
        self, resource: Resource, namespace: str | None, body: bytes, *, as_user: str = ""
    ) -> bytes:
        """Create one object, status included where the kind keeps it, and return it as stored."""
        ...

    async def patch(self, target: Target, patch: Patch, *, current: Json = None) -> Json:
        """Patch one object, or its subresource, and return it as stored."""
        ...

    async def renew(self, renewals: Sequence[Renewal]) -> Sequence[Renewed]:
        """Write leases of nodes, each if it is still as it is known; raises nothing."""
        ...

    async def delete(
        self,
        target: Target,
        *,
        grace_seconds: int | None = None,
        uid: str | None = None,
        current: Json = None,
    ) -> None:
        """Delete one object, only the one with this `uid` if given; finalizers are honoured."""
        ...

    def seen(self, resource: Resource, version: int) -> None:
        """Take note that one's own watch of a kind has come to a version: it paces writes."""
        ...

    async def close(self) -> None:
        """Finish what is under way and let the connections go."""
        ...
