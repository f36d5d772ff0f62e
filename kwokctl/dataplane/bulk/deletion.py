"""Deletes many objects in etcd."""

from functools import partial

from kwokctl.dataplane.bulk.locate import BulkAccess, Located, locate
from kwokctl.dataplane.in_flight import for_each
from kwokctl.dataplane.pacing import Window
from kwokctl.dataplane.port import ObjectKey, ObjectVersion, OldObjects
from kwokctl.dataplane.retrying import retried
from kwokctl.errors import RequestError
from kwokctl.kube.resource import LEASES, NODE_LEASES, NODES

TRANSACTIONS_AT_ONCE = 64
"""Transactions under way at a time."""


async def delete_in_etcd(old: OldObjects, access: BulkAccess, window: Window) -> None:
    """Delete objects in etcd, a node's lease with it; what finalizers hold goes through the API.

    So does everything from the moment when the kind is left to the API. Raises CannotStampError if
    the first object is not in etcd where it is thought to be.
    """
    first = old.objects[0]
    version = int(first.version or 0)
    located = await locate(access, old.resource, old.namespace, first.name, version)
    deletion = _Deletion(old, access, window, located)
    await for_each(old.objects, deletion.delete, at_once=TRANSACTIONS_AT_ONCE)


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
        words = self._leases(each.name), self._located.key_of(each.name), int(each.version)
        return await retried(partial(self._access.store.remove, *words))

    async def _looked_at_again(
        self, each: ObjectVersion, error: RequestError
    ) -> ObjectVersion | None:
        """Return an object that has changed meanwhile as it is; None if it is gone."""
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
