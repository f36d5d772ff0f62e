"""Creates and deletes many objects in etcd, or through the API where the result would be wrong."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

from kwokctl.dataplane.bulk.copy_session import CopySession
from kwokctl.dataplane.bulk.copy_writer import prepared
from kwokctl.dataplane.bulk.locate import BulkAccess, Located, locate
from kwokctl.dataplane.bulk.watch_progress import (
    AT_ONCE,
    SILENT,
    UNPLACED,
    WatchProgress,
    follow_watches,
)
from kwokctl.dataplane.pacing import PARALLEL_WRITES, Window
from kwokctl.dataplane.port import FEWEST_COPIES, NewObjects, ObjectKey, ObjectVersion, OldObjects
from kwokctl.errors import CannotStampError, RequestError
from kwokctl.kube.resource import LEASES, NAMESPACES, NODE_LEASES, NODES, PODS, SERVICES, Resource
from kwokctl.replacing import replace
from kwokctl.retry import retried
from kwokctl.tasks import beside, for_each

_CONTROLLERS = Resource(
    "", "v1", "replicationcontrollers", "ReplicationController", namespaced=True
)
_MORE_THAN_THEMSELVES = frozenset({NAMESPACES, SERVICES, _CONTROLLERS})
"""Kinds whose deletion has effects that only the API server brings about.

Namespaces are emptied, addresses of Services freed, pods of ReplicationControllers orphaned.
"""
_WHY = "deleting such an object has effects on others"


class EtcdBulk:
    """Writes to etcd where the result is certain, and everything else through the API."""

    def __init__(
        self, access: BulkAccess, new_window: Callable[[], Window], *, insists: bool
    ) -> None:
        """Write through `access`; with `insists` raise an error instead of falling back to the API."""
        self._access = access
        self._new_window = new_window
        self._insists = insists
        self._windows: dict[Resource, Window] = {}

    async def create(self, new: NewObjects) -> None:
        """Create objects as copies of the first two; a few, or such as differ in more than values, through the API."""
        are_few = len(new.serials) < FEWEST_COPIES
        if are_few or not new.is_uniform or self._access.is_left(new.resource):
            await self._access.api.create(new)
            return
        created = 0

        def on_created() -> None:
            nonlocal created
            created += 1
            new.on_created()

        try:
            writer = await prepared(replace(new, on_created=on_created), self._access)
            silence = UNPLACED if new.resource == PODS and new.node_of is None else SILENT
            async with self._window(new.resource, new.namespace, silence) as window:
                await writer.write(window)
        except CannotStampError as e:
            self._fall_back(new.resource, new.on_api, e)
            await self._access.api.create(replace(new, serials=new.serials[created:]))

    @asynccontextmanager
    async def copying(
        self, resource: Resource, namespace: str | None, *, is_placed: bool
    ) -> AsyncIterator[CopySession]:
        """Yield what writes copies of one kind and namespace, each when it is due."""
        silence = SILENT if resource != PODS or is_placed else AT_ONCE
        async with self._window(resource, namespace, silence) as window:
            yield CopySession(self._access, window)

    async def delete(self, old: OldObjects) -> None:
        """Delete objects in etcd; through the API if they have a grace period, or others depend on them."""
        if old.resource in _MORE_THAN_THEMSELVES and not self._access.is_left(old.resource):
            old.on_api(_WHY)
        elif not old.grace_seconds and not self._access.is_left(old.resource):
            try:
                silence = UNPLACED if old.resource == PODS else SILENT
                async with self._window(old.resource, old.namespace, silence) as window:
                    await delete_in_etcd(old, self._access, window)
            except CannotStampError as e:
                self._fall_back(old.resource, old.on_api, e)
            else:
                return
        await self._access.api.delete(old)

    def lag(self, resource: Resource) -> float:
        """Return the age in seconds of the oldest write that watches have not shown."""
        window = self._windows.get(resource)
        return window.lag if window is not None else 0.0

    def _fall_back(
        self, resource: Resource, on_api: Callable[[str], None], error: CannotStampError
    ) -> None:
        """Report why the API is used, or raise `error` if etcd is insisted on and the kind is not left to the API."""
        if self._access.is_left(resource):
            return
        if self._insists:
            raise error
        on_api(str(error))

    @asynccontextmanager
    async def _window(
        self, resource: Resource, namespace: str | None, silence: float
    ) -> AsyncIterator[Window]:
        """Yield a window that follows the watches of a kind."""
        window = self._windows[resource] = self._new_window()
        try:
            progress = WatchProgress(self._access, resource, namespace, silence)
            async with beside(follow_watches(window, progress)):
                yield window
        finally:
            self._windows.pop(resource, None)


async def delete_in_etcd(old: OldObjects, access: BulkAccess, window: Window) -> None:
    """Delete objects in etcd, a node with its lease; those with finalizers through the API.

    From the moment when the kind is left to the API, all others follow there. Raises CannotStampError
    if the first object is not at its expected key in etcd.
    """
    first = old.objects[0]
    version = int(first.version or 0)
    located = await locate(access, old.resource, old.namespace, first.name, version)
    deletion = _Deletion(old, access, window, located)
    await for_each(old.objects, deletion.delete, at_once=PARALLEL_WRITES)


class _Deletion:
    """Deletes the objects of one kind and namespace."""

    def __init__(
        self, old: OldObjects, access: BulkAccess, window: Window, located: Located
    ) -> None:
        self._old = old
        self._access = access
        self._window = window
        self._located = located

    async def delete(self, each: ObjectVersion) -> None:
        try:
            await self._delete(each)
        except Exception:
            self._window.stop()
            raise
        self._old.on_deleted()

    async def _delete(self, each: ObjectVersion) -> None:
        latest: ObjectVersion | None = each
        is_left, resource = self._access.is_left, self._old.resource
        while latest is not None and not latest.is_held and not is_left(resource):
            try:
                await self._window.write(partial(self._remove, latest))
            except RequestError as e:
                latest = await self._looked_at_again(each, e)
            else:
                latest = None
        if latest is not None:
            await self._access.api.delete_one(self._old, latest)

    async def _remove(self, each: ObjectVersion) -> int:
        key, version = self._located.key_of(each.name), int(each.version)
        leases = self._leases(each.name)
        return await retried(partial(self._access.store.remove, key, version, with_keys=leases))

    async def _looked_at_again(
        self, each: ObjectVersion, error: RequestError
    ) -> ObjectVersion | None:
        """Read an object again that has changed meanwhile; None if it is gone."""
        if error.reason == "NotFound":
            return None
        if error.reason != "Conflict":
            raise error
        target = ObjectKey(self._old.resource, self._old.namespace, each.name)
        latest = await retried(partial(self._old.look, target))
        return latest if latest is not None and latest.uid == each.uid else None

    def _leases(self, name: str) -> tuple[bytes, ...]:
        if self._old.resource != NODES:
            return ()
        return (self._access.keys.key(LEASES, NODE_LEASES, name),)
