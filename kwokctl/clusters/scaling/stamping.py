"""Makes the objects of a set as copies of two real ones, written to etcd.

The first two go through the API, as every object does otherwise: they are admitted, completed, and
brought to their status. A copy of the first must come out as the second is; a third is then read
back from the API server before all others are written.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import orjson

from kwokctl.clusters.scaling import ttl
from kwokctl.clusters.scaling.creation import PAUSES, Creation
from kwokctl.clusters.scaling.direct import Direct, Found
from kwokctl.clusters.scaling.in_flight import for_each
from kwokctl.clusters.scaling.readiness import judge_of
from kwokctl.controller.lease_book import Claim, micro_time
from kwokctl.dataplane.desk import Identity
from kwokctl.dataplane.stamp import CannotStampError, Copy, Stamp, Varying, stamp_of
from kwokctl.dataplane.stamp_protobuf import protobuf_stamp
from kwokctl.dataplane.store import Stored
from kwokctl.dataplane.window import Window
from kwokctl.errors import ApiError
from kwokctl.kube.paging import Query, list_pages
from kwokctl.kube.resource import LEASES, NODE_LEASES, NODES, PODS

Json = Any

WORTH = 24
"""Fewer objects are made through the API: it takes two of them to make a stamp."""
SAMPLES = 2
"""Objects that a stamp is made from."""
AT_ONCE = 64
"""Transactions under way at a time."""

LEASES_TOGETHER = 64
"""Leases of a transaction: two operations each, 128 at most (`--max-txn-ops` of etcd)."""

_PATIENCE = 10.0
"""Seconds in which the first two objects must come to their status."""
_LOOK_AGAIN = 0.02
_PROTOBUF = "application/vnd.kubernetes.protobuf"
_TTL = ("metadata", "annotations", ttl.ANNOTATION)


@dataclass(frozen=True, slots=True)
class _Sample:
    """One of the two real objects."""

    serial: int
    body: Json


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
        self._identity: Identity | None = None
        self._is_on_host = False
        self._bare: list[Copy] = []
        """Nodes without leases."""
        self._stamp: Stamp
        self._make: Callable[[Copy], bytes]
        self._found: Found
        self._is_followed = creation.resource == NODES or node_of is not None
        """Whether fake kubelets give the objects a status."""

    async def prepare(self, serials: Sequence[int], *, before: int) -> None:
        """Make the first two objects, and the stamp from them.

        `before` is how many objects of the kind there are. Raises CannotStampError when copies
        would not be right: then the objects made are as good as any, and the others can be made
        through the API.
        """
        made = [
            await self._creation.first(serials[0], before=before),
            await self._creation.one(serials[1], before=before + 1),
        ]
        first, second = [
            await self._settled(serial, body)
            for serial, body in zip(serials[:SAMPLES], made, strict=True)
        ]
        resource = self._creation.resource
        metadata = first.body["metadata"]
        version = int(metadata["resourceVersion"])
        self._found = await self._direct.find(
            resource, self._creation.namespace, metadata["name"], version
        )
        if resource == NODES:
            self._identity = await self._asked(self._direct.desk.identity())
            self._count_nodes(serials, before, (first, second))
        first_copy, second_copy = map(self._copy_of, (first, second))
        self._stamp = stamp_of(first.body, second.body, first_copy, second_copy, self._varying)
        # As protocol buffers objects are smaller, and the API server reads them faster.
        smaller = protobuf_stamp(await self._value(first), self._stamp)
        self._make = self._stamp.make if smaller is None else smaller.make
        self._is_on_host = bool(first.body.get("spec", {}).get("hostNetwork"))

    async def write(self, serials: Sequence[int], window: Window, tell: Callable[[], None]) -> None:
        """Write copies with these serials to etcd, and `tell` of each; the first is read back."""
        copies = await self._copies(serials)
        await self._prove(next(copies), window)
        tell()

        async def write(copy: Copy) -> None:
            await self._add(copy, window)
            tell()
            if len(self._bare) == LEASES_TOGETHER:
                await self._give_leases()

        await for_each(copies, write, at_once=AT_ONCE)
        await self._give_leases()

    async def _settled(self, serial: int, made: bytes | None) -> _Sample:
        """Return an object as it is when it has come to its status, if fake kubelets give it one.

        Others are taken as they were `made`: controllers and the scheduler go on from there.
        """
        creation = self._creation
        name, resource = creation.request.object_name(serial), creation.resource
        if made is None:
            raise CannotStampError(f"'{name}' was made meanwhile")
        if not self._is_followed:
            return _Sample(serial, orjson.loads(made))
        judge = judge_of(resource.kind)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _PATIENCE
        while True:
            raw = await self._direct.client.get_raw(resource, creation.namespace, name)
            lacks = judge(raw).lacks
            if lacks is None:
                return _Sample(serial, orjson.loads(raw))
            if loop.time() > deadline:
                raise CannotStampError(f"{resource.kind.lower()} '{name}' {lacks}")
            await asyncio.sleep(_LOOK_AGAIN)

    async def _value(self, sample: _Sample) -> bytes:
        """Return a real object as protocol buffers; what is stored may have changed, or be JSON."""
        creation, stored = self._creation, self._found.stored
        metadata = sample.body["metadata"]
        if stored.mod_revision == int(metadata["resourceVersion"]):
            if not stored.value.startswith(b"{"):
                return stored.value
        elif not self._is_followed:
            return b""
        path = creation.resource.path(creation.namespace, metadata["name"])
        response = await self._direct.client.pool.request("GET", path, accept=_PROTOBUF)
        return response.body if response.status == 200 else b""

    def _count_nodes(self, serials: Sequence[int], before: int, samples: Sequence[_Sample]) -> None:
        """Let each copy have the annotation that fits the number of nodes when it comes."""
        numbers = {serial: before + place for place, serial in enumerate(serials, start=1)}
        real = {each.serial: _annotation(each.body) for each in samples}
        if any(real.values()):
            self._varying[_TTL] = lambda serial: (
                real.get(serial) or ttl.seconds_for(numbers[serial])
            )

    def _copy_of(self, sample: _Sample) -> Copy:
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
        created = datetime.fromtimestamp(self._direct.wall(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return Copy(
            serial=serial,
            name=self._creation.request.object_name(serial),
            uid=str(uuid4()),
            created=created,
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
            del shown["metadata"]["resourceVersion"]
            query = Query(
                resource=creation.resource,
                namespace=creation.namespace,
                field_selector=f"metadata.name={copy.name}",
            )
            pages = [page async for page in list_pages(client.pool, query)]
            is_listed = sum(len(page.objects) for page in pages) == 1
        except ApiError:
            await self._direct.store.remove((), self._found.key_of(copy.name), revision)
            raise
        if not is_listed or (creation.resource in (NODES, PODS) and shown != wanted):
            await self._direct.store.remove((), self._found.key_of(copy.name), revision)
            raise CannotStampError(f"the API server does not show '{copy.name}' as it was written")

    async def _add(self, copy: Copy, window: Window) -> int:
        """Write one copy; returns the revision."""
        stored = Stored(self._found.key_of(copy.name), self._make(copy))
        await window.turn()
        try:
            revision = await self._stored(stored, copy.name)
        except BaseException:
            window.lost()
            raise
        window.written(revision)
        if self._identity is not None and self._identity.lease_seconds:
            self._bare.append(copy)
        return revision

    async def _stored(self, stored: Stored, name: str) -> int:
        for pause in (*PAUSES, None):
            try:
                return await self._direct.store.add((stored,))
            except ApiError as e:
                if e.reason == "AlreadyExists":
                    await self._creation.make_sure_it_is_ours(name)
                    return 0
                if pause is None or e.status != 0:
                    raise
            await asyncio.sleep(pause)
        raise AssertionError

    async def _give_leases(self) -> None:
        """Write the leases of the nodes that have none yet, as the controller itself would.

        After their nodes, else the garbage collector looks for the owners of leases that it has
        not heard of. Where the controller was first, its lease stays.
        """
        bare, self._bare = self._bare, []
        if not bare or self._identity is None:
            return
        stamp = micro_time(self._direct.wall())
        leases = [(self._lease(copy, self._identity, stamp), 0) for copy in bare]
        await self._direct.store.change_many(leases)

    def _lease(self, copy: Copy, identity: Identity, stamp: str) -> Stored:
        document = Claim(copy.name, copy.uid).document(
            holder=identity.holder, duration=identity.lease_seconds, stamp=stamp
        )
        document["metadata"] |= {"uid": str(uuid4()), "creationTimestamp": copy.created}
        key = self._direct.keys.key(LEASES, NODE_LEASES, copy.name)
        return Stored(key, orjson.dumps(document))

    async def _asked(self, question: Any) -> Any:
        try:
            return await question
        except ApiError as e:
            raise CannotStampError(f"the controller cannot be asked: {e}") from e


def _annotation(body: Json) -> str | None:
    annotations: dict[str, str] = body["metadata"].get("annotations", {})
    return annotations.get(ttl.ANNOTATION)
