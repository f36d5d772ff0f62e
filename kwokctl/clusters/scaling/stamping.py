"""Makes the objects of a set as copies of two real ones, written to etcd.

The first two go through the API, as every object does otherwise: they are admitted, completed, and
brought to their status. A copy of the first must come out as the second is; a third is then read
back from the API server before all others are written.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any

import orjson

from kwokctl.clusters.scaling import ttl
from kwokctl.clusters.scaling.creation import Creation
from kwokctl.clusters.scaling.direct import Direct, Found
from kwokctl.clusters.scaling.in_flight import for_each
from kwokctl.clusters.scaling.retrying import retried
from kwokctl.clusters.scaling.samples import Sample, Sampling
from kwokctl.dataplane.stamp import CannotStampError, Copy, Stamp, Varying, stamp_of
from kwokctl.dataplane.stamp_protobuf import protobuf_stamp
from kwokctl.dataplane.store import Stored
from kwokctl.dataplane.uid import new_uid
from kwokctl.dataplane.window import Window
from kwokctl.errors import ApiError
from kwokctl.expr.duration import format_time
from kwokctl.kube.paging import Query, list_pages
from kwokctl.kube.resource import NODES

Json = Any

WORTH = 24
"""Fewer objects are made through the API: it takes two of them to make a stamp."""
AT_ONCE = 64
"""Transactions under way at a time."""

_formatted = lru_cache(maxsize=2)(format_time)
"""Thousands of copies are made within a second."""

_TTL = ("metadata", "annotations", ttl.ANNOTATION)


class Stamping:
    """One set's stamp, from its first two objects to the last copy."""

    def __init__(
        self,
        creation: Creation,
        direct: Direct,
        varying: Varying,
        node_of: Callable[[int], str] | None,
    ) -> None:
        """Make what `creation` would; `varying` says what its template derives from a serial.

        `node_of` gives the node of a pod by its serial; None if they have none.
        """
        self._creation = creation
        self._direct = direct
        self._varying = dict(varying)
        self._node_of = node_of
        is_followed = creation.resource == NODES or node_of is not None
        self._sampling = Sampling(creation, direct, is_followed=is_followed)
        self._is_on_host = False
        self._stamp: Stamp
        self._make: Callable[[Copy], bytes]
        self._found: Found

    async def prepare(self, serials: Sequence[int], *, before: int) -> None:
        """Make the first two objects, and the stamp from them.

        `before` is how many objects of the kind there are. Raises CannotStampError when copies
        would not be right: then the objects made are as good as any, and the others can be made
        through the API.
        """
        first, second = await self._sampling.make(serials, before=before)
        resource, namespace = self._creation.resource, self._creation.namespace
        self._found = await self._direct.find(resource, namespace, first.name, first.version)
        if resource == NODES:
            self._count_nodes(serials, before, (first, second))
        first_copy, second_copy = map(self._copy_of, (first, second))
        self._stamp = stamp_of(first.body, second.body, first_copy, second_copy, self._varying)
        # As protocol buffers objects are smaller, and the API server reads them faster.
        value = await self._sampling.protobuf(first, self._found)
        smaller = protobuf_stamp(value, self._stamp)
        self._make = self._stamp.make if smaller is None else smaller.make
        self._is_on_host = bool(first.body.get("spec", {}).get("hostNetwork"))

    async def write(self, serials: Sequence[int], window: Window, tell: Callable[[], None]) -> None:
        """Write copies with these serials to etcd, and `tell` of each; the first is read back."""
        copies = await self._copies(serials)
        proof = next(copies)
        await self._prove(proof, window)
        tell()

        async def write(copy: Copy) -> None:
            await self._add(copy, window)
            tell()

        await for_each(copies, write, at_once=AT_ONCE)

    def _count_nodes(self, serials: Sequence[int], before: int, samples: Sequence[Sample]) -> None:
        """Let each copy have the annotation that fits the number of nodes when it comes."""
        numbers = {serial: before + place for place, serial in enumerate(serials, start=1)}
        real = {each.serial: _annotation(each.body) for each in samples}
        if any(real.values()):
            self._varying[_TTL] = lambda serial: (
                real.get(serial) or ttl.seconds_for(numbers[serial])
            )

    def _copy_of(self, sample: Sample) -> Copy:
        """Return what is a real object's own."""
        metadata, status = sample.body["metadata"], sample.body.get("status", {})
        return Copy(
            serial=sample.serial,
            name=metadata["name"],
            uid=metadata["uid"],
            created=metadata["creationTimestamp"],
            node=sample.body.get("spec", {}).get("nodeName", ""),
            pod_ips=tuple(each["ip"] for each in status.get("podIPs", ())),
            host_ips=tuple(each["ip"] for each in status.get("hostIPs", ())),
        )

    async def _copies(self, serials: Sequence[int]) -> Iterator[Copy]:
        """Return what is each copy's own, in the order of their serials."""
        if self._node_of is None:
            return map(self._copy, serials)
        nodes = [self._node_of(serial) for serial in serials]
        of_pods = not self._is_on_host
        addresses = await self._asked(self._direct.desk.addresses(nodes, of_pods=of_pods))
        return (
            self._copy(serial, node, *ips)
            for serial, node, ips in zip(serials, nodes, addresses, strict=True)
        )

    def _copy(
        self,
        serial: int,
        node: str = "",
        pod_ips: tuple[str, ...] = (),
        host_ips: tuple[str, ...] = (),
    ) -> Copy:
        return Copy(
            serial=serial,
            name=self._creation.request.object_name(serial),
            uid=new_uid(),
            created=_formatted(int(self._direct.wall())),
            node=node,
            pod_ips=pod_ips,
            host_ips=host_ips,
        )

    async def _prove(self, copy: Copy, window: Window) -> None:
        """Write one copy, and take it away again unless the API server shows it as it is."""
        creation, client = self._creation, self._direct.client
        revision = await self._add(copy, window)
        wanted = orjson.loads(self._stamp.make(copy))
        try:
            shown = await client.get(creation.resource, creation.namespace, copy.name)
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
        stored = Stored(self._found.key_of(copy.name), self._make(copy))
        return await window.write(partial(self._stored, stored, copy.name))

    async def _stored(self, stored: Stored, name: str) -> int:
        try:
            return await retried(partial(self._direct.store.add, (stored,)))
        except ApiError as e:
            if e.reason != "AlreadyExists":
                raise
        await self._creation.make_sure_it_is_ours(name)
        return 0

    async def _asked(self, question: Any) -> Any:
        try:
            return await question
        except ApiError as e:
            raise CannotStampError(f"the controller cannot be asked: {e}") from e


def _annotation(body: Json) -> str | None:
    annotations: dict[str, str] = body["metadata"].get("annotations", {})
    return annotations.get(ttl.ANNOTATION)
