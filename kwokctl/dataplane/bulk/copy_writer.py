"""Makes the objects of a set as copies of two real ones, written to etcd.

The first two objects go through the API, where they are admitted and completed. A copy of the first,
made with the values of the second, must equal the second; a third object is written as a copy and read
back from the API server before all others are written. The last object, whose values are the longest,
is admitted in a dry run before any is created. Copies are written as fake kubelets leave them right
after creation (`copy_makers`).
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from kwokctl.dataplane.bulk.choose_maker import chosen_maker
from kwokctl.dataplane.bulk.copy_makers import CopyMaker, UncertainCopyError
from kwokctl.dataplane.bulk.copy_values import CopyValues
from kwokctl.dataplane.bulk.created_samples import SAMPLES, Sample, create_samples
from kwokctl.dataplane.bulk.locate import BulkAccess, Located, locate
from kwokctl.dataplane.copies.json_stamp import Copy, in_order
from kwokctl.dataplane.pacing import PARALLEL_WRITES, Window
from kwokctl.dataplane.port import NewObjects
from kwokctl.errors import CannotStampError, RequestError
from kwokctl.etcd.kv.kv import Compare, Put
from kwokctl.kube.collections.paging import ListQuery, list_pages
from kwokctl.kube.resource import NAMESPACES
from kwokctl.retry import retried
from kwokctl.tasks import for_each


class _NotWrittenError(Exception):
    """A copy was not written: a condition failed, its name is taken, or it might be refused."""


async def prepared(new: NewObjects, access: BulkAccess) -> "CopyWriter":
    """Create the first two objects, and derive from them how copies are made.

    Raises CannotStampError when copies would be wrong: the two objects are valid nevertheless, and the
    others can be created through the API.
    """
    return await writer_of(new, access, await create_samples(new, access))


async def writer_of(new: NewObjects, access: BulkAccess, samples: Sequence[Sample]) -> "CopyWriter":
    """Derive from two objects that were just created how copies are made; CannotStampError as `prepared`."""
    first = samples[0]
    located = await locate(access, new.resource, new.namespace, first.name, first.version)
    values = CopyValues(new, access)
    maker = await chosen_maker(new, access, samples, values, located)
    return CopyWriter(new, access, located=located, values=values, maker=maker)


class CopyWriter:
    """Writes the copies of one real object."""

    def __init__(
        self,
        new: NewObjects,
        access: BulkAccess,
        *,
        located: Located,
        values: CopyValues,
        maker: CopyMaker,
    ) -> None:
        """Write the objects of `new` other than its samples; `located` is the first sample in etcd."""
        self._new = new
        self._access = access
        self._located = located
        self._values = values
        self._maker = maker
        self._proving = asyncio.Lock()
        self._is_proven = False
        self._namespace_key = b""
        if new.namespace is not None:
            self._namespace_key = access.keys.key(NAMESPACES, None, new.namespace)

    async def write(self, window: Window) -> None:
        """Write copies of all other objects to etcd; the first is read back.

        A copy that cannot be written is created through the API. Raises CannotStampError if no further
        copy can be written; then the objects with the lowest serials exist.
        """
        on_created = self._new.on_created

        async def write(copy: Copy) -> None:
            try:
                await self._one(copy, window)
            except Exception:
                window.stop()
                raise
            on_created()

        is_proven = False
        serials = self._new.serials[SAMPLES:]
        async for copies in self._values.batches(serials, self._maker.needs):
            if not is_proven:
                await self._prove(next(copies), window)
                on_created()
                is_proven = True
            await for_each(copies, write, at_once=PARALLEL_WRITES)

    async def alone(self, serial: int, window: Window) -> str | None:
        """Write the copy with a serial, whenever it is due, and return its uid; the first is read back.

        Returns None, with nothing written, if the API server has to create it. Raises CannotStampError if
        it does not show the first copy as it was written. Nothing is asked of the controller.
        """
        copy = self._values.one(serial)
        async with self._proving:
            if not self._is_proven:
                await self._prove(copy, window)
                self._is_proven = True
                return copy.uid
        try:
            await self._add(copy, window)
        except _NotWrittenError:
            return None
        return copy.uid

    async def _one(self, copy: Copy, window: Window) -> None:
        """Write one copy, or create the object through the API."""
        if not self._access.is_left(self._new.resource):
            try:
                await self._add(copy, window)
            except _NotWrittenError:
                pass
            else:
                return
        await self._access.api.create_one(self._new, copy.serial)

    async def _prove(self, copy: Copy, window: Window) -> None:
        """Write one copy, and delete it again unless the API server shows it as it was written."""
        new, client = self._new, self._access.client
        try:
            revision = await self._add(copy, window)
        except _NotWrittenError as e:
            raise CannotStampError(str(e)) from e
        wanted = self._maker.shown(copy)
        try:
            shown = in_order(await client.get(new.resource, new.namespace, copy.name))
            is_as_written = shown["metadata"].pop("resourceVersion") == str(revision)
            query = ListQuery(
                resource=new.resource,
                namespace=new.namespace,
                field_selector=f"metadata.name={copy.name}",
            )
            pages = [page async for page in list_pages(client.pool, query)]
            is_listed = sum(len(page.objects) for page in pages) == 1
        except RequestError:
            await self._take_back(copy, revision)
            raise
        # If another client has changed it meanwhile, the API server has decoded it.
        if not is_listed or (is_as_written and wanted is not None and shown != wanted):
            await self._take_back(copy, revision)
            raise CannotStampError(f"the API server does not show '{copy.name}' as it was written")

    async def _take_back(self, copy: Copy, revision: int) -> None:
        """Delete a copy unless another client has changed or deleted it."""
        with suppress(RequestError):
            await self._access.store.remove(self._located.key_of(copy.name), revision)

    async def _add(self, copy: Copy, window: Window) -> int:
        """Write one copy, and return its revision."""
        try:
            stored = Put(self._located.key_of(copy.name), self._maker.make(copy))
        except UncertainCopyError as e:
            raise _NotWrittenError(str(e)) from e
        return await window.write(partial(self._stored, stored, copy.name))

    async def _stored(self, stored: Put, name: str) -> int:
        new = self._new
        if self._access.is_left(new.resource):
            raise _NotWrittenError(f"{new.resource.plural} are left to the API")
        given: tuple[Compare, ...] = ()
        if self._namespace_key:
            # An object written to a namespace after its deletion would never be collected.
            given = (Compare(self._namespace_key, new.namespace_version()),)
        try:
            return await retried(partial(self._access.store.add, (stored,), given))
        except RequestError as e:
            if e.reason != "AlreadyExists":
                raise
            raise _NotWrittenError(f"'{name}' was made meanwhile") from e
