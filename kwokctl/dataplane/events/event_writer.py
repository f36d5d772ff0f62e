"""Writes Events to etcd as kube-apiserver does: one Event in a transaction, with a lease.

The first Event goes through the API. Its value in etcd shows the keys of Events, their encoding, and
how long they live.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from kwokctl.dataplane.copies.protobuf_stamp import PREFIX
from kwokctl.dataplane.etcd_keys import Keys
from kwokctl.dataplane.events.event_bytes import recounted, stored_value
from kwokctl.dataplane.events.expiry import EventExpiry
from kwokctl.dataplane.events.object_event import ObjectEvent
from kwokctl.dataplane.object_store import ObjectStore
from kwokctl.errors import EtcdConflictError, EtcdRefusedError, RequestError
from kwokctl.etcd.kv.kv import Compare, Put
from kwokctl.json_value import Json
from kwokctl.kube.names import new_uid
from kwokctl.kube.resource import EVENTS, NAMESPACES

_NEVER = 1
"""A version that no object has: the revision of an empty etcd."""
_NOT_FOUND = 5
"""The gRPC status with which etcd refuses a lease that it does not know."""


class EventWriter:
    """Writes Events past the API server if that bypasses no admission."""

    def __init__(
        self,
        through_api: Callable[[ObjectEvent], Awaitable[None]],
        store: ObjectStore,
        keys: Keys,
        namespace: Callable[[str], Awaitable[Mapping[str, Json]]],
        *,
        manager: str,
    ) -> None:
        """Write to `store`, and through `through_api` if the result is not certain.

        `namespace` returns the metadata of a namespace; `manager` owns the fields, unless it is empty.
        """
        self._through_api = through_api
        self._namespace = namespace
        self._store = store
        self._keys = keys
        self._manager = manager
        self._expiry: EventExpiry | None = None
        self._is_possible = True
        self._first = asyncio.Lock()
        self._namespaces: dict[str, int] = {}
        """The versions of namespaces that existed and were not being deleted."""

    async def record(self, event: ObjectEvent) -> None:
        """Create an Event; RequestError as from a request to the API."""
        if self._is_undecided():
            async with self._first:
                if self._is_undecided():
                    await self._look(event)
                    return
        if event.count > 1 and await self._recount(event):
            return
        if not await self.record_with(event, self._add):
            await self._through_api(event)

    async def record_with(
        self, event: ObjectEvent, write: Callable[[Put, Compare], Awaitable[int]]
    ) -> int:
        """Let `write` store an Event if its namespace is unchanged, and return the revision of that.

        Returns 0, with nothing written, if the Event has to go through the API server, or if `write`
        returns 0 because such an Event exists.
        """
        if self._expiry is None:
            return 0
        version = await self._namespace_version(event.namespace)
        lease = await self._expiry.lease()
        put = Put(self._key(event), stored_value(event, new_uid(), self._manager), lease)
        unchanged = Compare(self._keys.key(NAMESPACES, None, event.namespace), version)
        try:
            revision = await write(put, unchanged)
        except EtcdRefusedError as e:
            if e.code != _NOT_FOUND:
                raise
            self._expiry.forget(lease)
            return 0
        if not revision:
            self._namespaces.pop(event.namespace, None)
        return revision

    def _is_undecided(self) -> bool:
        return self._is_possible and self._expiry is None

    async def _look(self, event: ObjectEvent) -> None:
        """Create the first Event through the API, and learn from its stored value how Events are stored."""
        await self._through_api(event)
        kv = self._store.kv
        try:
            found = await self._store.get(self._key(event))
            if found is None or not found.value.startswith(PREFIX):
                self._is_possible = False
                return
            seconds = await kv.granted_seconds(found.lease) if found.lease else 0
        except RequestError:
            return  # the next Event tries again
        if seconds or not found.lease:
            self._expiry = EventExpiry(kv.grant, seconds, asyncio.get_running_loop().time)

    async def _add(self, put: Put, unchanged: Compare) -> int:
        try:
            return await self._store.add([put], [unchanged])
        except EtcdConflictError:
            return 0

    async def _recount(self, event: ObjectEvent) -> bool:
        """Change the count of an Event; False if it has expired, or was changed meanwhile."""
        if self._expiry is None:
            return False
        key = self._key(event)
        found = await self._store.get(key)
        if found is None:
            return False
        value = recounted(found.value, event.count, event.second)
        if value is None:
            return False
        put = Put(key, value, await self._expiry.lease())
        try:
            await self._store.change(put, found.mod_revision)
        except EtcdConflictError:
            return False
        return True

    async def _namespace_version(self, name: str) -> int:
        """Return the last version of a namespace in which it was not being deleted."""
        version = self._namespaces.get(name)
        if version is None:
            found = await self._namespace(name)
            version = _NEVER if found.get("deletionTimestamp") else int(found["resourceVersion"])
            self._namespaces[name] = version
        return version

    def _key(self, event: ObjectEvent) -> bytes:
        return self._keys.key(EVENTS, event.namespace, event.name)
