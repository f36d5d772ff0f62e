"""The data plane that writes to etcd what kubelets write most, and everything else through the API.

It writes to etcd: status patches of nodes and pods whose result is certain, deletions of pods without
finalizers and grace period, leases, Events, and bulk creations and deletions. Each write is computed
from the object as it was seen and compares its version, so that another client's write is never undone.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Self

import msgspec

from kwokctl.dataplane.api_plane import ApiPlane
from kwokctl.dataplane.bulk.copy_session import CopySession
from kwokctl.dataplane.bulk.etcd_bulk import EtcdBulk
from kwokctl.dataplane.bulk.locate import BulkAccess
from kwokctl.dataplane.etcd_keys import Keys, is_readable
from kwokctl.dataplane.events.event_writer import EventWriter
from kwokctl.dataplane.events.object_event import ObjectEvent
from kwokctl.dataplane.leases.decode import stored_lease
from kwokctl.dataplane.object_store import OPERATIONS_PER_TRANSACTION, ObjectStore
from kwokctl.dataplane.objects.stored_values import decoded
from kwokctl.dataplane.pacing import BULK_TICK, Window
from kwokctl.dataplane.port import (
    Figures,
    NewObjects,
    ObjectKey,
    OldObjects,
    Patch,
    Renewal,
    Renewed,
)
from kwokctl.dataplane.scale_protocol import ControllerClient
from kwokctl.dataplane.status_change import as_of, is_of_report, is_of_status, version_of
from kwokctl.errors import EtcdConflictError, RequestError
from kwokctl.etcd.kv.kv import KeyValue, Put, TxnAnswer
from kwokctl.expr.duration import format_time
from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.kube.names import new_uid
from kwokctl.kube.patching.apply_patch import UnknownPatchError, apply_patch
from kwokctl.kube.patching.managed_fields import after_report_update, after_status_update
from kwokctl.kube.resource import EVENTS, LEASES, NAMESPACES, NODE_LEASES, NODES, PODS, Resource
from kwokctl.kube.statuses import check_change
from kwokctl.kube.stored_json import ObjectInJson, value_of

_KINDS = frozenset({NODES, PODS})


class EtcdRoute(msgspec.Struct, frozen=True, kw_only=True):
    """The access to a cluster's etcd, for writes past the API server."""

    address: str
    """The address of etcd, for messages."""
    store: ObjectStore
    keys: Keys
    controller: ControllerClient | None = None
    """For bulk writes: the controller, which gives addresses to pods and reports the progress of its watches."""
    managed_fields: bool = True
    """Whether a status records which client owns which of its fields."""
    insists: bool = False
    """Whether bulk writes fail instead of going through the API."""


class EtcdPlane:
    """Writes to etcd past the API server, whose watch cache shows the writes to all clients."""

    leases_at_once = OPERATIONS_PER_TRANSACTION

    def __init__(
        self,
        api: ApiPlane,
        route: EtcdRoute,
        wall: Callable[[], float],
        *,
        pace: Callable[[], Window] = Window,
    ) -> None:
        """Write through `route`, else through `api`; `wall` is the time of day. Needs a running event loop.

        `pace` returns a window that limits single writes of one kind.
        """
        self._api = api
        self._store = route.store
        self._keys = route.keys
        self._wall = wall
        self._managed_fields = route.managed_fields
        self.windows = {NODES: pace(), PODS: pace()}
        """The windows that limit single writes, by kind; `seen` notifies them of the watch's progress."""
        self._left: Collection[Resource] = ()
        self._proven: dict[Resource, bool] = {}
        self._client = Client(api.pool)
        access = BulkAccess(
            store=route.store,
            keys=route.keys,
            client=self._client,
            api=api.bulk,
            controller=route.controller,
            wall=wall,
            is_left=self._is_left,
        )
        manager = api.manager if route.managed_fields else ""
        self._events = EventWriter(
            api.record, route.store, route.keys, self._namespace, manager=manager
        )
        self._bulk = EtcdBulk(access, partial(Window, tick=BULK_TICK), insists=route.insists)

    @property
    def direct(self) -> Self:
        """Itself: it implements DirectWriter."""
        return self

    def leave(self, resources: Collection[Resource]) -> None:
        """Write objects of these kinds, and of no others, through the API from now on."""
        self._left = frozenset(resources)

    async def create(
        self, resource: Resource, namespace: str | None, body: bytes, *, as_user: str = ""
    ) -> bytes:
        """Create one object through the API, which completes and admits it."""
        return await self._api.create(resource, namespace, body, as_user=as_user)

    async def record(self, event: ObjectEvent) -> None:
        """Create an Event in etcd, with a lease."""
        await (self._api if self._is_left(EVENTS) else self._events).record(event)

    async def patch(
        self, target: ObjectKey, patch: Patch, *, current: ObjectInJson | None = None
    ) -> ObjectInJson:
        """Patch one object: its status in etcd if the result is certain, else through the API."""
        changed = None
        if current is not None:
            changed = await self._certainly_changed(target, patch, current)
        if current is None or changed is None:
            return await self._api.patch(target, patch, current=current)
        put, version = self._put(target, changed), version_of(current)
        window = self.windows[target.resource]
        revision = await window.write(partial(self._store.change, put, version))
        return as_of(changed, revision)

    async def read(self, target: ObjectKey) -> ObjectInJson | None:
        """Return an object as etcd has it; None if it is gone, or if objects of its kind do not go to etcd."""
        if target.resource not in _KINDS or self._is_left(target.resource):
            return None
        found = await self._store.get(
            self._keys.key(target.resource, target.namespace, target.name)
        )
        if found is None or not is_readable(found.value):
            return None
        stored = decoded(found.value)
        if stored.unknown:
            return None
        meta = {**stored.document["metadata"], "resourceVersion": str(found.mod_revision)}
        value: ObjectInJson = {**stored.document, "metadata": meta}  # type: ignore[typeddict-item]  # a document is plain JSON
        return value

    async def patch_and_record(
        self, target: ObjectKey, patch: Patch, event: ObjectEvent, *, current: ObjectInJson
    ) -> ObjectInJson | None:
        """Patch one object and create an Event in the same transaction, if both can go to etcd."""
        if self._is_left(EVENTS):
            return None
        changed = await self._certainly_changed(target, patch, current)
        if changed is None:
            return None
        both = partial(self._store.change_and_add, self._put(target, changed), version_of(current))
        window = self.windows[target.resource]
        revision = await self._events.record_with(
            event, lambda new, unchanged: window.write(partial(both, new, unchanged))
        )
        return as_of(changed, revision) if revision else None

    async def store_whole(
        self, target: ObjectKey, value: bytes, version: int, event: ObjectEvent | None = None
    ) -> int | None:
        """Store an object of a kind whose patches go to etcd."""
        resource = target.resource
        if not self._proven.get(resource) or self._is_left(resource):
            return None
        key = self._keys.key(resource, target.namespace, target.name)
        window = self.windows[resource]
        if event is None:
            return await window.write(partial(self._store.change, Put(key, value), version))
        if self._is_left(EVENTS):
            return None
        both = partial(self._store.change_and_add, Put(key, value), version)
        revision = await self._events.record_with(
            event, lambda new, unchanged: window.write(partial(both, new, unchanged))
        )
        return revision or None

    async def renew(self, renewals: Sequence[Renewal]) -> Sequence[Renewed]:
        """Write leases of nodes together."""
        if self._is_left(LEASES):
            return await self._api.renew(renewals)
        writes = [self._lease(renewal) for renewal in renewals]
        try:
            answers = await self._store.change_many(writes)
        except RequestError as e:
            return [Renewed(error=e) for _ in renewals]
        return [
            _renewed(renewal, stored, answer)
            for renewal, (stored, _), answer in zip(renewals, writes, answers, strict=True)
        ]

    async def delete(
        self,
        target: ObjectKey,
        *,
        grace_seconds: int | None = None,
        uid: str | None = None,
        current: ObjectInJson | None = None,
    ) -> None:
        """Delete one object: a pod without finalizers or grace period in etcd, others through the API."""
        if (
            current is None
            or target.resource != PODS
            or grace_seconds != 0
            or current["metadata"].get("finalizers")
            or (uid is not None and current["metadata"].get("uid") != uid)
            or not await self._takes(target, current)
        ):
            await self._api.delete(target, grace_seconds=grace_seconds, uid=uid)
            return
        key = self._keys.key(target.resource, target.namespace, target.name)
        window = self.windows[target.resource]
        await window.write(partial(self._store.remove, key, version_of(current)))

    async def create_copies(self, new: NewObjects) -> None:
        """Create objects in etcd, as copies of two that went through the API."""
        await self._bulk.create(new)

    def copying(
        self, resource: Resource, namespace: str | None, *, is_placed: bool
    ) -> AbstractAsyncContextManager[CopySession]:
        """Provide what writes copies in etcd one at a time."""
        return self._bulk.copying(resource, namespace, is_placed=is_placed)

    async def delete_many(self, old: OldObjects) -> None:
        """Delete objects in etcd, each in its own transaction."""
        await self._bulk.delete(old)

    def lag(self, resource: Resource) -> float:
        """Return the age in seconds of the oldest bulk write that watches have not shown."""
        return self._bulk.lag(resource)

    def seen(self, resource: Resource, version: int) -> None:
        """Note that the caller's watch of a kind has reached a version."""
        window = self.windows.get(resource)
        if window is not None:
            window.seen(version)

    def figures(self) -> Figures:
        """Return the metrics of the pacing of writes, by name and labels."""
        found: Figures = {}
        for resource, window in self.windows.items():
            labels = (("kind", resource.kind),)
            found["kwok_controller_watch_delay_seconds", labels] = window.behind
            found["kwok_controller_unseen_writes", labels] = window.unseen
            found["kwok_controller_held_writes_total", labels] = window.held
        return found

    async def _namespace(self, name: str) -> Mapping[str, Json]:
        found: Mapping[str, Json] = (await self._client.get(NAMESPACES, None, name))["metadata"]
        return found

    def _is_left(self, resource: Resource) -> bool:
        return bool(self._left) and resource in self._left

    async def _takes(self, target: ObjectKey, current: ObjectInJson) -> bool:
        """Return whether objects of this kind are written to etcd.

        The first object of a kind shows whether it is at the expected key, unencrypted.
        """
        resource = target.resource
        if resource not in _KINDS or self._is_left(resource):
            return False
        if not current["metadata"].get("resourceVersion", "").isdecimal():
            return False
        proven = self._proven.get(resource)
        if proven is None:
            found = await self._store.get(self._keys.key(resource, target.namespace, target.name))
            if found is not None:
                proven = self._proven[resource] = is_readable(found.value)
        return bool(proven)

    async def _certainly_changed(
        self, target: ObjectKey, patch: Patch, current: ObjectInJson
    ) -> ObjectInJson | None:
        """Return an object with a patch applied; None if the API server has to apply it."""
        if patch.subresource != "status" or patch.as_user or not await self._takes(target, current):
            return None
        changed = self._changed_status(current, patch, target.resource.kind)
        if changed is None:
            return None
        problem = check_change(target.resource, current, changed, kept=patch.kept)
        return changed if problem is None else None

    def _put(self, target: ObjectKey, changed: ObjectInJson) -> Put:
        resource = target.resource
        key = self._keys.key(resource, target.namespace, target.name)
        return Put(key, value_of(changed, resource.api_version, resource.kind))

    def _changed_status(
        self, current: ObjectInJson, patch: Patch, kind: str
    ) -> ObjectInJson | None:
        """Return an object with a status patch applied; None if the result is not certain."""
        try:
            changed: ObjectInJson = patch.result or apply_patch(
                current, patch.document, patch.type, kind
            )
            owners = after_status_update
            if not is_of_status(current, changed):
                if kind != NODES.kind or not is_of_report(current, changed):
                    return None
                owners = after_report_update
            if not self._managed_fields or not current["metadata"].get("managedFields"):
                return changed
            now = format_time(int(self._wall()))
            owned = owners(current, changed, kind, manager=self._api.manager, now=now)
        except UnknownPatchError:
            return None
        return {**changed, "metadata": {**changed["metadata"], "managedFields": owned}}

    def _lease(self, renewal: Renewal) -> tuple[Put, int]:
        key = self._keys.key(LEASES, NODE_LEASES, renewal.node)
        if renewal.version:
            return Put(key, renewal.lease.value()), int(renewal.version)
        made = format_time(int(self._wall()))
        return Put(key, renewal.lease.named(new_uid(), made).value()), 0


def _renewed(renewal: Renewal, stored: Put, answer: TxnAnswer) -> Renewed:
    if answer.succeeded:
        made = None if renewal.version else stored_lease(stored.value, answer.revision)
        return Renewed(version=str(answer.revision), found=made)
    found = answer.answers[0]
    if not isinstance(found, KeyValue):
        return Renewed(error=EtcdConflictError("the lease is gone", status=404, reason="NotFound"))
    error = EtcdConflictError("the lease has been modified", status=409, reason="Conflict")
    return Renewed(error=error, found=stored_lease(found.value, found.mod_revision))
