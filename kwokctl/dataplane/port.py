"""The port through which fake kubelets and `scale` write to a cluster.

Two protocols, one for each of them; every adapter serves both. A third has what only an adapter
past the API server can do.

Whatever implements it may have many calls in flight and must keep each object's writes in the order
of its calls. A write computed from an older copy of an object must never undo what other clients have
written since.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Protocol

import msgspec

from kwokctl.dataplane.copies.own_values import OwnValues
from kwokctl.dataplane.copies.variable_fields import Varying
from kwokctl.dataplane.events.object_event import ObjectEvent
from kwokctl.dataplane.leases.decode import StoredLease
from kwokctl.dataplane.leases.encode import Lease
from kwokctl.errors import ApiError, RequestError
from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType
from kwokctl.kube.resource import Resource
from kwokctl.kube.stored import ObjectInJson

WORTH = 24
"""Fewer objects are created through the API: it takes two of them to make copies."""
Figures = dict[tuple[str, tuple[tuple[str, str], ...]], float]
"""Metrics by name and labels."""


class ObjectKey(msgspec.Struct, frozen=True, gc=False):
    """One object of a cluster."""

    resource: Resource
    namespace: str | None
    name: str


class Patch(msgspec.Struct, frozen=True, kw_only=True):
    """A change to one object."""

    document: Json
    type: PatchType
    subresource: str = ""
    as_user: str = ""
    """The user to impersonate; the cluster must allow that."""
    result: Json | None = None
    """The object with the patch applied, where the caller has computed that."""


class Renewal(msgspec.Struct, frozen=True):
    """A node's lease as it must become."""

    node: str
    version: str
    """The resourceVersion that it builds on; empty if there is no lease yet."""
    lease: Lease
    """With `uid` and `creationTimestamp` if it exists."""


class Renewed(msgspec.Struct, frozen=True):
    """The result of a renewal."""

    version: str = ""
    """The resourceVersion of the lease that was written; empty if none was."""
    found: StoredLease | None = None
    """The lease as it is now: ours if it was created, or that of another client that wrote before."""
    error: RequestError | None = None


class FakeKubelet(Protocol):
    """Does in memory what fake kubelets would do at once to an object before it is written."""

    is_current: bool
    """Whether it still does what those of the cluster do."""

    @property
    def needs_addresses(self) -> bool:
        """Whether it may ask for the addresses of pods."""
        ...

    def play(self, body: Json, own: OwnValues) -> Json:
        """Return an object as it is left at once; the object itself if nothing is done.

        The rest is for the fake kubelets of the cluster.
        """
        ...

    def pattern(self, body: Json, own: OwnValues) -> Json:
        """Return the same for all objects, with symbols where they differ, as in `body`.

        Raises NotSymbolicError where each must be played by itself.
        """
        ...


class NewObjects(msgspec.Struct, frozen=True, kw_only=True):
    """Objects of one kind that are created together, one for each serial."""

    resource: Resource
    namespace: str | None
    serials: Sequence[int]
    name_of: Callable[[int], str]
    body: Callable[[int], dict[str, Json]]
    """Renders the object with a serial as it is sent to the API server."""
    varying: Callable[[Mapping[int, Json]], Varying]
    """Returns what is derived from the serial, given the first objects by their serials."""
    node_of: Callable[[int], str] | None = None
    """Returns the node of a pod by its serial; None if the objects are on no node."""
    lacks: Callable[[bytes], str | None] = lambda _: None
    """Returns what an object lacks until the cluster has done with it what it does to ready ones."""
    kubelet: FakeKubelet | None = None
    """What plays objects before they are written; without it they are written as they are created."""
    managed_fields: bool = True
    """Whether copies record which client owns which fields."""
    namespace_version: Callable[[], int] = int
    """Returns the version of the namespace in which it was last seen to exist."""
    turn: Callable[[], Awaitable[None]] | None = None
    """Waits for a turn to create the next object through the API."""
    on_created: Callable[[], None]
    """Called once for each object."""
    on_refused: Callable[[ApiError, str], Awaitable[None]]
    """Called with the API server's refusal of an object, and its name.

    Raises what it means, or returns if the object exists after all.
    """
    on_api: Callable[[str], None]
    """Called with the reason when what is left cannot be written past the API server."""


class ObjectVersion(Protocol):
    """An object as it was last seen."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def uid(self) -> str:
        """Distinguishes it from a later object of the same name."""
        ...

    @property
    def version(self) -> str:
        """Its resourceVersion."""
        ...

    @property
    def is_held(self) -> bool:
        """Whether finalizers delay its deletion."""
        ...


class OldObjects(msgspec.Struct, frozen=True, kw_only=True):
    """Objects of one kind and namespace that are deleted together."""

    resource: Resource
    namespace: str | None
    objects: Sequence[ObjectVersion]
    grace_seconds: int = 0
    look: Callable[[ObjectKey], Awaitable[ObjectVersion | None]]
    """Looks at one of them again; None if it does not exist."""
    on_deleted: Callable[[], None]
    """Called once for each object."""
    on_api: Callable[[str], None]
    """Called with the reason when they cannot be deleted past the API server."""


class KubeletWriter(Protocol):
    """Where fake kubelets write.

    Every method raises RequestError when the cluster refuses, or does not answer, with its reason:
    `Conflict` for a write that builds on an older copy. `current` is the object as it is known; a
    caller that has it passes it, since some adapters then do in one step what otherwise
    requires the API server.
    """

    leases_at_once: int
    """How many renewals go together best."""

    @property
    def direct(self) -> "DirectWriter | None":
        """What it can do past the API server; None if everything goes through the API."""
        ...

    async def create(
        self, resource: Resource, namespace: str | None, body: bytes, *, as_user: str = ""
    ) -> bytes:
        """Create one object through the API, which completes and admits it; return it as stored."""
        ...

    async def record(self, event: ObjectEvent) -> None:
        """Create an Event, which expires as those of other clients do."""
        ...

    async def patch(
        self, target: ObjectKey, patch: Patch, *, current: ObjectInJson | None = None
    ) -> Json:
        """Patch one object, or its subresource, and return it as stored."""
        ...

    async def renew(self, renewals: Sequence[Renewal]) -> Sequence[Renewed]:
        """Write leases of nodes, each if it has not been changed meanwhile; raises nothing."""
        ...

    async def delete(
        self,
        target: ObjectKey,
        *,
        grace_seconds: int | None = None,
        uid: str | None = None,
        current: ObjectInJson | None = None,
    ) -> None:
        """Delete one object, only the one with this `uid` if given; finalizers are honoured."""
        ...


class BulkWriter(Protocol):
    """Where `scale` writes.

    When a method fails, what it has written is whole, and calling it again for what is left
    completes it. Both raise RequestError when the cluster refuses, and CannotStampError if the objects
    had to be written past the API server and cannot be.
    """

    async def create_copies(self, new: NewObjects) -> None:
        """Create objects that differ in little more than their names; none is overwritten."""
        ...

    async def delete_many(self, old: OldObjects) -> None:
        """Delete exactly these objects, nodes with their leases; finalizers are honoured.

        What another client has deleted, or replaced by an object of the same name, is skipped.
        """
        ...


class DirectWriter(Protocol):
    """What an adapter can do that writes past the API server and its admission.

    Its user watches webhooks and policies, and calls `leave` for the kinds to which they apply. A write
    that cannot be made now, as of such a kind, is answered with None, and nothing is done then: the API
    server has to be asked, by the methods of `KubeletWriter`.
    """

    async def patch_and_record(
        self, target: ObjectKey, patch: Patch, event: ObjectEvent, *, current: ObjectInJson
    ) -> Json | None:
        """Patch one object and create an Event in one step."""
        ...

    async def store_whole(
        self, target: ObjectKey, value: bytes, version: int, event: ObjectEvent | None = None
    ) -> int | None:
        """Store a whole object of which only the status is new, and with it an Event, in one step.

        `value` is as etcd has it, and certainly what a patch would make of the object as it was in
        `version`. Returns the revision of the write.
        """
        ...

    def leave(self, resources: Collection[Resource]) -> None:
        """Write objects of these kinds, and of no others, through the API from now on."""
        ...

    def seen(self, resource: Resource, version: int) -> None:
        """Take note that the caller's watch of a kind has come to a version: it paces writes."""
        ...

    def lag(self, resource: Resource) -> float:
        """Return for how many seconds watches have not shown a write of a bulk; 0 without a bulk."""
        ...

    def figures(self) -> Figures:
        """Return how writers are paced, as metrics."""
        ...


class DataPlane(KubeletWriter, BulkWriter, Protocol):
    """What every adapter serves; callers do not depend on which one it is."""
