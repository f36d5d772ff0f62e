"""Reads of objects what the API server keeps of any: the metadata, in pages."""

from collections.abc import AsyncIterator
from datetime import datetime

import msgspec

from kwokctl.kube.client import Client, PatchType
from kwokctl.kube.collections.paging import METADATA, ListQuery, list_pages
from kwokctl.kube.resource import Resource
from kwokctl.kube.transport.pool import Pool


class KnownMetadata(msgspec.Struct, frozen=True):
    """The metadata of an object that checks read."""

    name: str
    namespace: str = ""
    uid: str = ""
    deleted: datetime | None = msgspec.field(name="deletionTimestamp", default=None)
    """The end of its grace period, when it should be gone."""
    finalizers: tuple[str, ...] = ()
    owners: tuple[msgspec.Raw, ...] = msgspec.field(name="ownerReferences", default=())

    def is_deleted_since(self, when: float) -> bool:
        """Return whether it should have been gone at a POSIX time."""
        return self.deleted is not None and self.deleted.timestamp() < when

    async def without(self, client: Client, resource: Resource, prefix: str) -> None:
        """Take the finalizers off it that begin with a prefix."""
        rest = [each for each in self.finalizers if not each.startswith(prefix)]
        if len(rest) < len(self.finalizers):
            body = msgspec.json.encode({"metadata": {"finalizers": rest}})
            path = resource.path(self.namespace, self.name)
            await client.call("PATCH", path, body, content_type=PatchType.MERGE)


class _Object(msgspec.Struct):
    metadata: KnownMetadata


_decode = msgspec.json.Decoder(_Object).decode


async def known_objects(pool: Pool, query: ListQuery) -> AsyncIterator[KnownMetadata]:
    """Yield the metadata of the objects that are selected."""
    async for page in list_pages(pool, query, accept=METADATA):
        for each in page.objects:
            yield _decode(each).metadata
