"""Makes the objects of a set as copies of two real ones, written to etcd.

The first two go through the API, as every object does otherwise: they are admitted, completed, and
brought to their status. A copy of the first must come out as the second is; a third is then read
back from the API server before all others are written. The last one must have been admitted, too,
before any is made: its values are the longest.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import orjson

from kwokctl.clusters.scaling import ttl
from kwokctl.clusters.scaling.copies import Copies, fitting
from kwokctl.clusters.scaling.creation import Creation
from kwokctl.clusters.scaling.direct import Direct, Found
from kwokctl.clusters.scaling.in_flight import for_each
from kwokctl.clusters.scaling.obstacles import Obstacles
from kwokctl.clusters.scaling.retrying import retried
from kwokctl.clusters.scaling.samples import SAMPLES, Sample, Sampling
from kwokctl.clusters.scaling.serials import Serials
from kwokctl.dataplane.copies.json_stamp import (
    CannotStampError,
    Copy,
    Stamp,
    Varying,
    in_order,
    stamp_of,
)
from kwokctl.dataplane.copies.protobuf_stamp import protobuf_stamp
from kwokctl.dataplane.pacing import Window
from kwokctl.dataplane.store import Stored
from kwokctl.errors import ApiError
from kwokctl.etcd.kv.kv import Compare
from kwokctl.kube.collections.paging import Query, list_pages
from kwokctl.kube.resource import NAMESPACES, NODES

Json = Any

WORTH = 24
"""Fewer objects are made through the API: it takes two of them to make a stamp."""
AT_ONCE = 64
"""Transactions under way at a time."""

_TTL = ("metadata", "annotations", ttl.ANNOTATION)


class _NotWrittenError(Exception):
    """A copy was not written: something is in the way, or has its name."""


class Stamping:
    """One set's stamp, from its first two objects to the last copy."""

    def __init__(
        self,
        creation: Creation,
        direct: Direct,
        obstacles: Obstacles,
        varying: Varying,
        node_of: Callable[[int], str] | None,
    ) -> None:
        """Make what `creation` would; `varying` says what its template derives from a serial.

        `node_of` gives the node of a pod by its serial; None if they have none.
        """
        self._creation = creation
        self._direct = direct
        self._obstacles = obstacles
        self._varying = dict(varying)
        is_followed = creation.resource == NODES or node_of is not None
        self._sampling = Sampling(creation, direct, is_followed=is_followed)
        self._copies = Copies(creation.request, direct, node_of)
        self._namespace_key = b""
        if creation.namespace is not None:
            self._namespace_key = direct.keys.key(NAMESPACES, None, creation.namespace)
        self._serials: Serials
        self._before = 0
        self._sample: Json
        self._fits: Callable[[Copy], bool]
        self._stamp: Stamp
        self._make: Callable[[Copy], bytes]
        self._found: Found

    async def prepare(self, serials: Serials, *, before: int, tell: Callable[[], None]) -> None:
        """Make the first two objects, `tell`ing of each, and the stamp from them.

        `before` is how many objects of the kind there are. Raises CannotStampError when copies
        would not be right: then the objects made are as good as any, and the others can be made
        through the API.
        """
        self._serials, self._before = serials, before
        first, second = await self._sampling.make(serials, before=before, tell=tell)
        self._sample, self._fits = first.body, fitting(first.body)
        resource, namespace = self._creation.resource, self._creation.namespace
        self._found = await self._direct.find(resource, namespace, first.name, first.version)
        if resource == NODES:
            self._count_nodes((first, second))
        first_copy = await self._copies.of_sample(first)
        second_copy = await self._copies.of_sample(second)
        self._stamp = stamp_of(
            first.body,
            second.body,
            first_copy,
            second_copy,
            self._varying,
            managed_fields=self._direct.has_managed_fields(resource),
        )
        # As protocol buffers objects are smaller, and the API server reads them faster.
        value = await self._sampling.protobuf(first, self._found)
        smaller = protobuf_stamp(value, self._stamp)
        self._make = self._stamp.make if smaller is None else smaller.make

    async def write(self, window: Window, tell: Callable[[], None]) -> None:
        """Write copies of all others to etcd, and `tell` of each; the first is read back.

        Those that something is in the way of are made through the API. Raises CannotStampError if
        that is all that is left: those told of are the first ones.
        """

        async def write(copy: Copy) -> None:
            try:
                await self._one(copy, window)
            except Exception:
                window.stop()
                raise
            tell()

        is_on_host = bool(self._sample.get("spec", {}).get("hostNetwork"))
        is_proven = False
        async for copies in self._copies.batches(self._serials[SAMPLES:], on_host=is_on_host):
            if not is_proven:
                await self._prove(next(copies), window)
                tell()
                is_proven = True
            await for_each(copies, write, at_once=AT_ONCE)

    async def _one(self, copy: Copy, window: Window) -> None:
        """Write one copy, or make the object through the API."""
        if self._obstacles.why is None:
            try:
                await self._add(copy, window)
            except _NotWrittenError:
                pass
            else:
                return
        await self._creation.one(copy.serial, before=self._earlier(copy.serial))

    def _earlier(self, serial: int) -> int:
        """Return how many objects of the kind there are before one is made."""
        return self._before + self._serials.index(serial)

    def _count_nodes(self, samples: tuple[Sample, ...]) -> None:
        """Let each copy have the annotation that fits the number of nodes when it comes."""
        real = {each.serial: _annotation(each.body) for each in samples}
        if any(real.values()):
            self._varying[_TTL] = lambda serial: (
                real.get(serial) or ttl.seconds_for(self._earlier(serial) + 1)
            )

    async def _prove(self, copy: Copy, window: Window) -> None:
        """Write one copy, and take it away again unless the API server shows it as it is."""
        creation, client = self._creation, self._direct.client
        try:
            revision = await self._add(copy, window)
        except _NotWrittenError as e:
            raise CannotStampError(str(e)) from e
        wanted = orjson.loads(self._stamp.make(copy))
        try:
            shown = in_order(await client.get(creation.resource, creation.namespace, copy.name))
            is_as_written = shown["metadata"].pop("resourceVersion") == str(revision)
            query = Query(
                resource=creation.resource,
                namespace=creation.namespace,
                field_selector=f"metadata.name={copy.name}",
            )
            pages = [page async for page in list_pages(client.pool, query)]
            is_listed = sum(len(page.objects) for page in pages) == 1
        except ApiError:
            await self._take_back(copy, revision)
            raise
        # Who has changed it meanwhile has read it.
        if not is_listed or (is_as_written and shown != wanted):
            await self._take_back(copy, revision)
            raise CannotStampError(f"the API server does not show '{copy.name}' as it was written")

    async def _take_back(self, copy: Copy, revision: int) -> None:
        """Delete a copy unless somebody else has changed or deleted it."""
        with suppress(ApiError):
            await self._direct.store.remove((), self._found.key_of(copy.name), revision)

    async def _add(self, copy: Copy, window: Window) -> int:
        """Write one copy; returns the revision."""
        if not self._fits(copy):
            raise _NotWrittenError(f"the node of '{copy.name}' has other kinds of addresses")
        stored = Stored(self._found.key_of(copy.name), self._make(copy))
        return await window.write(partial(self._stored, stored, copy.name))

    async def _stored(self, stored: Stored, name: str) -> int:
        obstacles = self._obstacles
        given: tuple[Compare, ...] = ()
        if obstacles.why is not None:
            raise _NotWrittenError(obstacles.why)
        if self._namespace_key:
            # What is written to a namespace once it has gone would never be collected.
            given = (Compare(self._namespace_key, obstacles.namespace_version),)
        try:
            return await retried(partial(self._direct.store.add, (stored,), given))
        except ApiError as e:
            if e.reason != "AlreadyExists":
                raise
            raise _NotWrittenError(f"'{name}' was made meanwhile") from e


def _annotation(body: Json) -> str | None:
    annotations: dict[str, str] = body["metadata"].get("annotations", {})
    return annotations.get(ttl.ANNOTATION)
