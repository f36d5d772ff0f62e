"""Follows one object of a cluster by a watch, such as a Fault."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Protocol, TypeVar

import msgspec

from kwokctl.errors import NotFoundError
from kwokctl.faults.objects.fault_schema import ObjectMeta
from kwokctl.kube.client import Client
from kwokctl.kube.collections.watch import EventType, watch
from kwokctl.kube.resource import Resource


class _Stored(Protocol):
    @property
    def metadata(self) -> ObjectMeta: ...


Stored = TypeVar("Stored", bound=_Stored)


async def object_versions(
    client: Client,
    resource: Resource,
    made: Stored,
    decode: Callable[[bytes | msgspec.Raw], Stored],
) -> AsyncGenerator[Stored, None]:
    """Yield an object as it is and whenever it has changed, for ever.

    NotFoundError if it is deleted, or was before it was looked for; another object of its name is not taken for it.
    """
    meta = made.metadata
    is_seen = False
    batches = watch(
        client.pool, resource, decoder=decode, field_selector=f"metadata.name={meta.name}"
    )
    async with aclosing(batches):
        async for events in batches:
            for event in events:
                is_it = event.object is not None and event.object.metadata.uid == meta.uid
                is_missing = event.type is EventType.SYNCED and not is_seen
                if is_missing or (is_it and event.type is EventType.DELETED):
                    raise NotFoundError(f"the {resource.kind} '{meta.name}' was deleted meanwhile")
                if is_it and event.object is not None:
                    is_seen = True
                    yield event.object
