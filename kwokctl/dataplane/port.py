"""The port through which fake kubelets and `scale` write to a cluster.

It consists of two protocols, one for each of them, which every adapter implements. A third protocol has
what only an adapter that bypasses the API server can do.

An adapter may have many calls in flight, and must keep each object's writes in the order of the calls.
A write computed from an older copy of an object must never undo what other clients have written since.
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
from kwokctl.kube.stored_json import ObjectInJson

FEWEST_COPIES = 24
"""The smallest number of objects for which copies pay: fewer are created through the API."""
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
    """The user to impersonate, if the cluster allows that."""
    result: Json | None = None
    """The object with the patch applied, if the caller has computed it."""
    kept: Collection[str] = ()
    """Fields in it that only some API servers keep, and this one does."""


class Renewal(msgspec.Struct, frozen=True):
    """The new content of a node's lease."""

    node: str
    version: str
    """The resourceVersion that it replaces; empty if there is no lease yet."""
    lease: Lease
    """With `uid` and `creationTimestamp` if it exists."""


class Renewed(msgspec.Struct, frozen=True):
    """The result of a renewal."""

    version: str = ""
    """The resourceVersion of the written lease; empty if nothing was written."""
    found: StoredLease | None = None
    """The lease as stored now: ours if it was created, else the one that another client has written."""
    error: RequestError | None = None


class FakeKubelet(Protocol):
    """Does in memory, before an object is written, what fake kubelets would do right after its creation."""

    is_current: bool
    """Whether it still behaves as those of the cluster."""

    @property
    def needs_addresses(self) -> bool:
        """Whether it may use the addresses of pods."""
        ...

    def play(self, body: Json, own: OwnValues) -> Json:
        """Return an object with all changes that need no time; the object itself if there are none.

        The fake kubelets of the cluster do the rest.
        """
        ...

    def pattern(self, body: Json, own: OwnValues) -> Json:
        """Play all objects together: `body`, and the result, have symbols where objects differ.

        Raises NotSymbolicError if each object must be played by itself.
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
    """Returns the values that are derived from the serial, given the samples by their serials."""
    node_of: Callable[[int], str] | None = None
    """Returns the node of the pod with a serial; None if the objects are on no node."""
    lacks: Callable[[bytes], str | None] = lambda _: None
    """Returns what an object still lacks until the cluster has processed it; None if nothing."""
    kubelet: FakeKubelet | None = None
    """Plays objects before they are written; None to write them as they are created."""
    managed_fields: bool = True
    """Whether copies record which client owns which fields."""
    is_uniform: bool = True
    """Whether they differ in nothing but values that are known; else each is created through the API."""
    namespace_version: Callable[[], int] = int
    """Returns the last version of the namespace in which it was seen to exist."""
    turn: Callable[[], Awaitable[None]] | None = None
    """Waits for a turn to create the next object through the API."""
    on_created: Callable[[], None]
    """Called once for each object."""
    on_refused: Callable[[ApiError, str], Awaitable[None]]
    """Called with the API server's refusal of an object, and the object's name.

    Raises the resulting error, or returns if the object exists after all.
    """
    on_api: Callable[[str], None]
    """Called with the reason when the remaining objects cannot be written past the API server."""


WriteCopy = Callable[[int], Awaitable[str | None]]
"""Writes the copy with a serial and returns its uid; None if the API server has to create the object.

Raises CannotStampError if no copy can be written.
"""


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
    """Reads one of the objects again; None if it does not exist."""
    on_deleted: Callable[[], None]
    """Called once for each object."""
    on_api: Callable[[str], None]
    """Called with the reason when they cannot be deleted past the API server."""


class KubeletWriter(Protocol):
    """The methods with which fake kubelets write.

    Every method raises RequestError, with the reason, when the cluster refuses or does not answer:
    `Conflict` for a write that builds on an older copy. `current` is the caller's copy of the object, if
    it has one: with it some adapters do in one step what otherwise requires the API server.
    """

    leases_at_once: int
    """The best number of renewals in one call."""

    @property
    def direct(self) -> "DirectWriter | None":
        """The writer that bypasses the API server; None if everything goes through the API."""
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
    ) -> ObjectInJson:
        """Patch one object, or its subresource, and return it as stored."""
        ...

    async def renew(self, renewals: Sequence[Renewal]) -> Sequence[Renewed]:
        """Write leases of nodes, each unless it has been changed meanwhile; raises nothing."""
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
    """The methods with which `scale` writes.

    When a method fails, each object that it has written is complete, and another call for the remaining
    objects continues. Both raise RequestError when the cluster refuses, and CannotStampError if the
    objects had to be written past the API server and cannot be.
    """

    async def create_copies(self, new: NewObjects) -> None:
        """Create objects that differ in little more than their names; none is overwritten."""
        ...

    async def delete_many(self, old: OldObjects) -> None:
        """Delete exactly these objects, nodes with their leases; finalizers are honoured.

        Objects that another client has deleted, or replaced by one of the same name, are skipped.
        """
        ...


class DirectWriter(Protocol):
    """The further methods of an adapter that bypasses the API server and its admission.

    The caller watches webhooks and policies, and calls `leave` with the kinds to which they apply. A
    method returns None, having written nothing, if it cannot write now, for example an object of such a
    kind: then the caller uses the methods of `KubeletWriter`.
    """

    async def read(self, target: ObjectKey) -> ObjectInJson | None:
        """Return an object as it is stored; None if it is gone, or cannot be written like that."""
        ...

    async def patch_and_record(
        self, target: ObjectKey, patch: Patch, event: ObjectEvent, *, current: ObjectInJson
    ) -> ObjectInJson | None:
        """Patch one object and create an Event in one step."""
        ...

    async def store_whole(
        self, target: ObjectKey, value: bytes, version: int, event: ObjectEvent | None = None
    ) -> int | None:
        """Store a whole object with a new status, and an Event, in one step.

        `value` is encoded for etcd, and certainly the result of a patch of the object's `version`.
        Returns the revision of the write.
        """
        ...

    def leave(self, resources: Collection[Resource]) -> None:
        """Write objects of these kinds, and of no others, through the API from now on."""
        ...

    def seen(self, resource: Resource, version: int) -> None:
        """Note that the caller's watch of a kind has reached a version: that paces writes."""
        ...

    def lag(self, resource: Resource) -> float:
        """Return the age in seconds of the oldest bulk write that watches have not shown; 0 without one."""
        ...

    def figures(self) -> Figures:
        """Return the metrics of the pacing of writes."""
        ...


class DataPlane(KubeletWriter, BulkWriter, Protocol):
    """The protocol that every adapter implements; callers do not depend on the adapter."""
