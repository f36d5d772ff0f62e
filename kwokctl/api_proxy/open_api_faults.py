"""Follows the Faults of the cluster: those of the API are carried out from when this proxy has said so until they end."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import aclosing
from random import Random

import msgspec

from kwokctl.api_proxy.api_fault import ApiFault
from kwokctl.errors import ApiError, KwokctlError
from kwokctl.expr.duration import format_time
from kwokctl.faults.objects.fault_schema import (
    ACKNOWLEDGED,
    FaultDefinition,
    StoredFault,
    StoredPage,
)
from kwokctl.faults.overlays.definitions import read_definition
from kwokctl.kube.client import Client, PatchType
from kwokctl.kube.collections.served import while_served
from kwokctl.kube.collections.watch import Event, EventType, watch
from kwokctl.kube.resource import FAULT_PAGES, FAULTS, Resource
from kwokctl.retry import may_pass, until_answered

log = logging.getLogger(__name__)

_LOOK_MOST = 1.0
"""Seconds between two looks for a kind that is not served yet: the first `fault inject` installs it."""
_NOT_THERE = 404
_BEGUN = frozenset({"Injecting", "Landed"})
_fault = msgspec.json.Decoder(StoredFault).decode
_Cut = Callable[[ApiFault], int]
"""Cuts the open watches that a fault matches, and returns how many they were."""


class OpenApiFaults:
    """The faults that are carried out now, by uid, in the order in which they began here."""

    def __init__(
        self, client: Client, cut: _Cut, wall: Callable[[], float], random: Random
    ) -> None:
        """Follow with `client`; `wall` returns the time of day."""
        self._client = client
        self._cut = cut
        self._wall = wall
        self._random = random
        self._open: dict[str, ApiFault] = {}
        self._cutters: dict[str, asyncio.Task[None]] = {}

    @property
    def open(self) -> Mapping[str, ApiFault]:
        """The faults that are carried out now."""
        return self._open

    async def run(self) -> None:
        """Follow until cancelled; the kind may come and go meanwhile."""
        try:
            await while_served(
                self._client,
                (FAULTS.api_version, FAULTS.kind),
                self._follow,
                self._end_all,
                self._random,
                most=_LOOK_MOST,
            )
        finally:
            self._end_all()

    async def _follow(self, resource: Resource) -> None:
        async def once() -> None:
            events = watch(self._client.pool, resource, decoder=_fault, while_served=True)
            async with aclosing(events) as batches:
                async for batch in batches:
                    for event in batch:
                        await self._note(event)

        await until_answered(once, self._random)
        self._end_all()

    async def _note(self, event: Event[StoredFault]) -> None:
        fault = event.object
        if fault is None:
            return
        uid = fault.metadata.uid
        is_open = event.type is not EventType.DELETED and _is_open(fault)
        if not is_open:
            self._end(uid)
        elif uid not in self._open:
            await self._begin(fault)

    async def _begin(self, fault: StoredFault) -> None:
        name = fault.metadata.name
        try:
            found = ApiFault(fault, read_definition(await self._definition(fault)))
        except ApiError as e:
            if may_pass(e):
                raise
            log.warning("fault %r is not carried out: %s", name, e)
            return
        except (KwokctlError, ValueError) as e:
            log.warning("fault %r is not carried out: %s", name, e)
            return
        self._open[fault.metadata.uid] = found
        if found.cut_every:
            cutter = asyncio.get_running_loop().create_task(self._cut_regularly(found))
            self._cutters[found.uid] = cutter
        log.info("fault %r of class %r is carried out", name, fault.spec.class_name)
        await self._acknowledge(fault)

    async def _definition(self, fault: StoredFault) -> FaultDefinition:
        raw = await self._client.get_raw(FAULT_PAGES, None, fault.status.definition)
        definition = msgspec.json.decode(raw, type=StoredPage).spec.definition
        if definition is None:
            raise ValueError(f"its page '{fault.status.definition}' has no definition")
        return definition

    async def _acknowledge(self, fault: StoredFault) -> None:
        """Say on the Fault since when it is carried out, unless that is said."""
        meta = fault.metadata
        if ACKNOWLEDGED in (meta.annotations or {}):
            return
        at = format_time(self._wall(), nanos=True)
        patch = {"metadata": {"uid": meta.uid, "annotations": {ACKNOWLEDGED: at}}}
        path, body = FAULTS.path(None, meta.name), msgspec.json.encode(patch)
        try:
            await self._client.call("PATCH", path, body, content_type=PatchType.MERGE)
        except ApiError as e:
            log.warning("fault %r is carried out, and that cannot be said: %s", meta.name, e)

    async def _cut_regularly(self, fault: ApiFault) -> None:
        while True:
            await asyncio.sleep(fault.cut_every)
            fault.cut += self._cut(fault)

    def _end(self, uid: str) -> None:
        if (cutter := self._cutters.pop(uid, None)) is not None:
            cutter.cancel()
        if (fault := self._open.pop(uid, None)) is not None:
            words = "fault %r has ended: it met %d requests and hit %d, and cut %d watches"
            log.info(words, fault.name, fault.met, fault.hit, fault.cut)

    def _end_all(self) -> None:
        for uid in tuple(self._open):
            self._end(uid)


def _is_open(fault: StoredFault) -> bool:
    status = fault.status
    return (
        fault.spec.target.api
        and status.clock is not None
        and status.phase in _BEGUN
        and fault.metadata.deletion_timestamp is None
    )
