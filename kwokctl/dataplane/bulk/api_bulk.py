"""Creates and deletes many objects through the API, one request each, many in parallel."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

import orjson

from kwokctl.dataplane.port import KubeletWriter, NewObjects, ObjectKey, ObjectVersion, OldObjects
from kwokctl.errors import ApiError
from kwokctl.retry import retried
from kwokctl.tasks import for_each

PARALLEL_REQUESTS = 32
"""The most requests under way."""

_ACCOUNT_PATIENCE = 60.0
"""Seconds to wait for the service account of a namespace that has just been made: the
controller-manager makes it in milliseconds unless it is busy, as with many nodes."""
_ACCOUNT_POLL = 0.1
_GONE = frozenset({"NotFound", "Conflict"})
"""Reasons that mean: the object is deleted already, perhaps replaced by another of the same name."""

Created = TypeVar("Created")


class ApiBulk:
    """Does with one request for each object what other adapters do in bulk."""

    def __init__(self, plane: KubeletWriter) -> None:
        """Create and delete through `plane`."""
        self._plane = plane

    async def create(self, new: NewObjects) -> None:
        """Create the first object alone, so that an error which all would get shows before the others.

        When it fails, the objects created so far are complete, and another call creates the rest.
        """
        if not new.serials:
            return
        await patiently(partial(self.create_one, new, new.serials[0]))
        new.on_created()

        async def create(serial: int) -> None:
            if new.turn is not None:
                await new.turn()
            await self.create_one(new, serial)
            new.on_created()

        await for_each(new.serials[1:], create, at_once=PARALLEL_REQUESTS)

    async def create_one(self, new: NewObjects, serial: int) -> bytes | None:
        """Create an object, and return it as the cluster stored it; None if it existed already."""
        body = new.body(serial)
        data = orjson.dumps(body)
        try:
            return await retried(partial(self._plane.create, new.resource, new.namespace, data))
        except ApiError as e:
            await new.on_refused(e, body["metadata"]["name"])
            return None

    async def delete(self, old: OldObjects) -> None:
        """Delete the objects; one that has finalizers exists until they are removed."""

        async def delete(each: ObjectVersion) -> None:
            await self.delete_one(old, each)
            old.on_deleted()

        await for_each(old.objects, delete, at_once=PARALLEL_REQUESTS)

    async def delete_one(self, old: OldObjects, each: ObjectVersion) -> None:
        """Delete an object unless it is gone, or another object has its name."""
        target = ObjectKey(old.resource, old.namespace, each.name)
        delete = partial(self._plane.delete, target, grace_seconds=old.grace_seconds, uid=each.uid)
        try:
            await retried(delete)
        except ApiError as e:
            if e.reason not in _GONE:
                raise


async def patiently(create: Callable[[], Awaitable[Created]]) -> Created:
    """Await `create`, and repeat it until the namespace has its service account.

    A namespace that has just been created has none yet.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _ACCOUNT_PATIENCE
    while True:
        try:
            return await create()
        except ApiError as e:
            if not _lacks_account(e) or loop.time() > deadline:
                raise
        await asyncio.sleep(_ACCOUNT_POLL)


def _lacks_account(error: ApiError) -> bool:
    text = str(error).lower()
    return error.reason == "Forbidden" and "serviceaccount" in text and "not found" in text
